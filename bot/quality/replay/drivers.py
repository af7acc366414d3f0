"""Runs a replay: with an index on all processors, or with a simulated GitHub search in this process.

With an index, the arrivals are divided into segments. Each segment has its own process and index. The process first
indexes all issues before its segment, so its answers equal those of a single process.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import sqlalchemy as sa

from bot.domain.errors import Unavailable
from bot.platform.processes import running_in_processes
from bot.quality.replay.archive import PastIssue
from bot.quality.replay.replay import (
    REPO_ID,
    IndexMirror,
    QuestionRecorder,
    ReplayAnswer,
    ReplayGitHub,
    ReplayOptions,
    replay,
)
from bot.search.embedding.local_models import TextModel, choose_embedder
from bot.search.finder import Finder, FinderSettings, TemporaryIndexes
from bot.search.index import TextAnalyser
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher
from bot.search.matching.weights import Model
from bot.search.sources.federated import only_sources
from bot.search.sources.github import GitHubHybrid
from bot.storage.failures import why

#: A process needs this many questions to be worth its cost: a second to start, and the indexing of all earlier issues.
LEAST_SEGMENT = 500


def replay_index(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: ReplayOptions,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Generator[ReplayAnswer | None, None, None]:
    """Like `replay`, with an index, in at most `jobs` processes (None: one for each processor).

    For each of `issues`, yields an answer if `asked` has its position, else None. With several
    processes, yields answers only when all processes are done. Calls `advance` for each arrival in any process.
    """
    first = min(asked, default=len(issues))
    count = min(jobs or os.cpu_count() or 1, max(1, len(asked) // LEAST_SEGMENT))
    for _ in range(first):
        advance()
        yield None
    if count == 1:
        for answer in _answers(issues, first, asked, asking):
            advance()
            yield answer
    else:
        yield from _in_processes(issues, sorted(asked), count, asking, advance)


# In a child process, the number of issues that have arrived in all child processes together.
_arrived: Synchronized[int]
# Seconds between two readings of the number by the parent process.
_EVERY = 0.2


def _in_processes(
    issues: Sequence[PastIssue],
    positions: Sequence[int],
    count: int,
    asking: ReplayOptions,
    advance: Callable[[], None],
) -> Iterator[ReplayAnswer | None]:
    """Replay from the first of `positions` (ascending), in `count` processes. Ask about the arrivals at `positions`."""
    starts = [positions[len(positions) * part // count] for part in range(count)]
    ends = [*starts[1:], len(issues)]
    arrived, advanced = multiprocessing.get_context("spawn").Value("q", 0), 0
    # A killed child process leaves its index's file behind, so this process removes all these files.
    with temporary_index_errors():
        folder = tempfile.TemporaryDirectory(prefix="doppel-", ignore_cleanup_errors=True)
    with folder as path:
        calls = [
            (issues[:end], start, [position for position in positions if start <= position < end], asking, Path(path))
            for start, end in zip(starts, ends, strict=True)
        ]
        with running_in_processes(count, _replay_segment, calls, _begin, arrived) as segments:
            running = set(segments)
            while running:
                done, running = wait(running, _EVERY, FIRST_EXCEPTION)
                # Raise a failed segment's error at once.
                for segment in done:
                    segment.result()
                while advanced < arrived.value:
                    advance()
                    advanced += 1
            for segment in segments:
                yield from segment.result()


def _begin(arrived: Synchronized[int]) -> None:
    global _arrived
    _arrived = arrived


def _replay_segment(
    issues: Sequence[PastIssue], start: int, asked: Collection[int], asking: ReplayOptions, within: Path
) -> list[ReplayAnswer | None]:
    answers = []
    for answer in _answers(issues, start, asked, asking, within):
        answers.append(answer)
        with _arrived.get_lock():
            _arrived.value += 1
    return answers


def _answers(
    issues: Sequence[PastIssue], start: int, asked: Collection[int], asking: ReplayOptions, within: Path | None = None
) -> Iterator[ReplayAnswer | None]:
    """The answers about the arrivals from `start` on. `within` is the folder of the index's file."""
    with temporary_index_errors(), ephemeral_index(TextAnalyser(), choose_embedder(), within, TextModel()) as index:
        github = ReplayGitHub(searchable=False)
        model = Model.parse(asking.weights) if asking.weights else None
        recorder = None if asking.floor is None else QuestionRecorder(asking.floor)
        finder = Finder(
            github,
            settings=FinderSettings(sources=only_sources(*asking.sources)),
            matcher=Matcher(index, model, most=None),
            temporary=TemporaryIndexes(index),
            repo_id=REPO_ID,
            judge=recorder,
        )
        mirror = IndexMirror(index)
        find_options = asking.options()
        yield from replay(issues, asked, finder, github, find_options, mirror, start, recorder)


@contextmanager
def temporary_index_errors() -> Iterator[None]:
    """Raise Unavailable instead of errors about the file of a temporary index.

    The caller would mistake an OSError for a problem with its own output file.
    """
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as failure:
        home = "a folder for temporary files"
        # On a full disk, gettempdir() finds no usable folder.
        with suppress(OSError):
            home = tempfile.gettempdir()
        raise Unavailable(f"the index in {home} failed ({why(failure)}); change TMPDIR") from None


def replay_search(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: ReplayOptions,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[ReplayAnswer | None]:
    """Like `replay`, with a simulated search. `advance` is called whenever an issue has arrived."""
    github = ReplayGitHub()
    settings = FinderSettings(budget=asking.budget, hybrid=GitHubHybrid.name in asking.sources)
    model = Model.parse(asking.weights) if asking.weights else None
    finder = Finder(github, settings=settings, temporary=TemporaryIndexes(matcher_for=partial(Matcher, model=model)))
    find_options = asking.options()
    for answer in replay(issues, asked, finder, github, find_options):
        advance()
        yield answer


def replayed(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: ReplayOptions,
    jobs: int | None,
    advance: Callable[[], None],
) -> Iterator[ReplayAnswer]:
    """The answers about the positions in `asked`, in order; `jobs` and `advance` are as for `replay_index`."""
    run = partial(replay_index, jobs=jobs) if asking.indexed else replay_search
    return (answer for answer in run(issues, asked, asking, advance=advance) if answer is not None)
