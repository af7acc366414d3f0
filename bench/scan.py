"""How good the groups of a backlog scan are, and how long a scan takes.

    .venv/bin/python bench/scan.py [--data ISSUES.jsonl.gz] [--weights WEIGHTS.json] [--answers KEPT.json]

Two ways of making groups are compared by the pairs of issues in them: complete linkage over the learned confidence, as
`doppel scan` makes them, and connected components of plain cosine, which is what one does without either. A pair is
right if both issues are in one known group (`duplicate_of`). Precision is told twice: over the pairs whose groups are
both known, and over those of which at least one is, where whatever nobody linked counts as wrong. Recall is over all
pairs of known groups. Labels are read afterwards only. Without `--data` issues are made up; a tenth are said twice.

Honest figures need weights that were not learned from the same file (`doppel train`): `--weights`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.index import made_up
from bot.app.wiring.indexes import build_backlog_matcher, build_index
from bot.interfaces.agents.vectors import components
from bot.platform import settings as host
from bot.quality.evaluation.trial import labels_of
from bot.quality.feedback import Pair
from bot.quality.replay.archive import archive_of, indexed, read_rows
from bot.quality.scanning.groups import THRESHOLD, ScanAnswer, ScanMatch, linked
from bot.quality.scanning.scan import match_in_processes
from bot.search.index import Index, IndexedIssue
from bot.search.index.vectors import VectorKind
from bot.storage import open_store

REPO = 1
SIZE = 3_000
CONFIDENCES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
COSINES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)

Groups = Sequence[Sequence[int]]


def from_file(path: Path) -> tuple[list[IndexedIssue], Mapping[int, object]]:
    """The issues of a file, and by their numbers which group they belong to."""
    rows = list(read_rows(path))
    archive = archive_of(rows)
    labels = labels_of([row for row, _ in rows])
    return indexed(archive), {number: labels.group[one.id] for number, one in enumerate(archive, 1)}


def made() -> tuple[list[IndexedIssue], Mapping[int, object]]:
    """Made-up issues; a tenth say in half of the words what an earlier one said."""
    rng = random.Random(1)
    issues: list[IndexedIssue] = []
    group: dict[int, object] = {}
    for issue in made_up(SIZE):
        number = issue.number
        group[number] = number
        if number > 10 and rng.random() < 0.1:
            earlier = issues[rng.randrange(len(issues))]
            kept = [word for word in earlier.body.split() if rng.random() < 0.7]
            issue = issue._replace(title=earlier.title, body=" ".join(kept))
            group[number] = group[earlier.number]
        issues.append(issue._replace(created_at=86_400.0 * number, author=f"user{number}"))
    return issues, group


def pairs(groups: Groups) -> Iterator[Pair]:
    for group in groups:
        yield from combinations(sorted(group), 2)


def judge(groups: Groups, group: Mapping[int, object]) -> str:
    """One line of the table."""
    size = Counter(group.values())
    all_right = sum(count * (count - 1) // 2 for count in size.values())
    right = both = either = listed = 0
    for one, other in pairs(groups):
        known = (size[group[one]] > 1) + (size[group[other]] > 1)
        listed += 1
        right += group[one] == group[other]
        both += known == 2
        either += known >= 1
    largest = max(map(len, groups), default=0)
    return (
        f"{len(groups):7,} {sum(map(len, groups)):7,} {largest:8,} {listed:9,}"
        f" {share(right, both)} {share(right, either)} {share(right, all_right)}"
    )


def share(part: int, whole: int) -> str:
    return f"{part / whole:9.3f}" if whole else "        –"


def chained(likely: Mapping[Pair, float], threshold: float) -> list[tuple[int, ...]]:
    """Connected components of the same pairs: what complete linkage is there to prevent."""
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        while parent.setdefault(number, number) != number:
            number = parent[number]
        return number

    for (one, other), chance in likely.items():
        if chance >= threshold:
            parent[root(one)] = root(other)
    found: dict[int, list[int]] = {}
    for number in parent:
        found.setdefault(root(number), []).append(number)
    return [tuple(members) for members in found.values()]


def by_cosine(index: Index, numbers: Sequence[int], threshold: float) -> list[list[int]]:
    """Connected components of the cosine of whole issues."""
    with index.view(REPO) as view:
        vectors = view.vectors(np.array(numbers))[:, VectorKind.BOTH]
    found: dict[int, list[int]] = {}
    for number, label in zip(numbers, components(vectors, threshold).tolist(), strict=True):
        found.setdefault(label, []).append(number)
    return [group for group in found.values() if len(group) > 1]


def likely(answers: Iterable[ScanAnswer], scope: frozenset[int]) -> dict[Pair, float]:
    return {
        (min(one.number, it.number), max(one.number, it.number)): it.confidence
        for one in answers
        for it in one.found
        if one.number in scope and it.number in scope
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--answers", type=Path, help="keep the answers here, and take them from here if they are there")
    arguments = parser.parse_args()
    issues, group = from_file(arguments.data) if arguments.data else made()
    with tempfile.TemporaryDirectory(prefix="doppel-bench-") as directory:
        url = f"sqlite:///{Path(directory) / 'scan.db'}"
        settings = host.load().model_copy(update={"database_url": url, "sqlite_synchronous": "OFF"})
        store = open_store(settings)
        index = build_index(settings, store)
        began, before = time.perf_counter(), worked()
        index.put(REPO, issues)
        filled, read = time.perf_counter(), worked()
        if arguments.answers and arguments.answers.exists():
            answers = [
                ScanAnswer(**(one | {"found": tuple(ScanMatch(**it) for it in one["found"])}))
                for one in json.loads(arguments.answers.read_text())
            ]
        else:
            weights = arguments.weights.read_text(encoding="utf-8") if arguments.weights else ""
            make = partial(build_backlog_matcher, settings, weights)
            everything = [issue.number for issue in issues]
            parts = match_in_processes(make, REPO, everything, os.cpu_count() or 1)
            answers = [answer for part in parts for answer in part]
            print(
                f"{len(issues):,} issues on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}: reading "
                f"{filled - began:.0f} s ({read - before:.0f} s of a processor), comparing "
                f"{time.perf_counter() - filled:.0f} s ({worked() - read:.0f} s of a processor)"
            )
        if arguments.answers and not arguments.answers.exists():
            arguments.answers.write_text(json.dumps([asdict(one) for one in answers]))
        opened = [issue.number for issue in issues if issue.state == "open"]
        for name, numbers in (("open issues", opened), ("open and closed issues", [one.number for one in issues])):
            show(name, numbers, likely(answers, frozenset(numbers)), index, group)
        store.close()


def worked() -> float:
    """Seconds of a processor that this process and those that it has waited for have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def show(
    name: str, numbers: Sequence[int], found: Mapping[Pair, float], index: Index, group: Mapping[int, object]
) -> None:
    """Both tables of one backlog."""
    scope = {number: group[number] for number in numbers}
    print(f"\n{len(numbers):,} {name}{'':20} groups  issues  largest     pairs  both known  one known  recall")
    for cut in CONFIDENCES:
        mark = " *" if cut == THRESHOLD else "  "
        print(f"complete linkage, confidence ≥ {cut:.2f}{mark}  {judge(linked(found, cut), scope)}")
    for cut in CONFIDENCES:
        print(f"connected components, confidence ≥ {cut:.2f} {judge(chained(found, cut), scope)}")
    for cut in COSINES:
        print(f"connected components, cosine ≥ {cut:.2f}     {judge(by_cosine(index, numbers, cut), scope)}")


if __name__ == "__main__":
    main()
