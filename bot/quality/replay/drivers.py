"""Runs a replay: with an index on all processors, or with a simulated GitHub search in this process.

With an index, the arrivals are divided into segments. Each segment has its own process and index. The process first
indexes all issues before its segment, so its answers equal those of a single process.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path

import sqlalchemy as sa

from bot.domain.errors import DoppelError, Unavailable
from bot.platform.processes import signals_blocked
from bot.quality.replay.archive import PastIssue
from bot.quality.replay.replay import (
    FutureLeak,
    IndexMirror,
    QuestionRecorder,
    ReplayAnswer,
    ReplayGitHub,
    ReplayOptions,
    replay,
)
from bot.search.embedding.local import TextModel, choose_embedder
from bot.search.finder import Finder, FinderSettings, TemporaryIndexes
from bot.search.index import TextAnalyser
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher
from bot.search.matching.weights import Model
from bot.search.sources.federated import only_sources
from bot.search.sources.github import HYBRID
from bot.storage.failures import why

#: A process needs this many questions to be worth its cost: a second to start, and the indexing of all earlier issues.
LEAST_SEGMENT = 500

# The repository's id in the index.
_REPO = 1


@dataclass(frozen=True, slots=True)
class _Segment:
    """The arrivals from `start` on, and the positions `asked` about. `within` is the folder of the index's file."""

    start: int
    asked: frozenset[int]
    asking: ReplayOptions
    within: Path | None = None


def replay_index(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: ReplayOptions,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Generator[ReplayAnswer | None, None, None]:
    """Like `replay`, for all `issues`, with an index, in `jobs` processes (None: one for each processor).

    `advance` is called whenever an issue has arrived in any process. Answers are yielded in order.
    """
    first = min(asked, default=len(issues))
    count = min(jobs or os.cpu_count() or 1, max(1, len(asked) // LEAST_SEGMENT))
    for _ in range(first):
        advance()
        yield None
    if count == 1:
        for answer in _answers(issues, _Segment(first, frozenset(asked), asking)):
            advance()
            yield answer
    else:
        yield from _in_processes(issues, sorted(asked), count, asking, advance)


def _in_processes(
    issues: Sequence[PastIssue],
    positions: Sequence[int],
    count: int,
    asking: ReplayOptions,
    advance: Callable[[], None],
) -> Iterator[ReplayAnswer | None]:
    """Replay the arrivals from the first of `positions`, those to ask about, in `count` processes."""
    first = positions[0]
    starts = [first, *(positions[len(positions) * part // count] for part in range(1, count))]
    ends = [*starts[1:], len(issues)]
    segments: list[_Process] = []
    with ExitStack() as stack:
        # A killed child process leaves its index's file behind, so this process removes all of them.
        with _index_errors():
            made = tempfile.TemporaryDirectory(prefix="doppel-", ignore_cleanup_errors=True)
        home = Path(stack.enter_context(made))
        stack.callback(_end_processes, segments)
        for start, end in zip(starts, ends, strict=True):
            places = frozenset(place for place in positions if start <= place < end)
            segments.append(_Process(end - start, _Segment(start, places, asking, home)))
        for segment, end in zip(segments, ends, strict=True):
            segment.give(issues[:end])
        for segment in segments:
            for _ in range(segment.count):
                while not segment.arrived:
                    _receive(segments, advance)
                yield segment.take()


def _end_processes(segments: Sequence[_Process]) -> None:
    for segment in segments:
        segment.process.terminate()
    for segment in segments:
        segment.process.join()


def _answers(issues: Sequence[PastIssue], segment: _Segment) -> Iterator[ReplayAnswer | None]:
    asking = segment.asking
    with _index_errors(), ephemeral_index(TextAnalyser(), choose_embedder(), segment.within, TextModel()) as index:
        github = ReplayGitHub(searchable=False)
        weights = Model.parse(asking.weights) if asking.weights else None
        settings = FinderSettings(sources=only_sources(*asking.sources))
        judge = None if asking.floor is None else QuestionRecorder(asking.floor)
        finder = Finder(
            github,
            settings=settings,
            matcher=Matcher(index, weights, most=None),
            temporary=TemporaryIndexes(index),
            repo_id=_REPO,
            judge=judge,
        )
        mirror = IndexMirror(index, _REPO)
        yield from replay(issues, segment.asked, finder, github, asking.options(), mirror, segment.start, judge)


@contextmanager
def _index_errors() -> Iterator[None]:
    """Raise Unavailable instead of errors about the index's file.

    The caller would mistake an OSError for a problem with the file of answers.
    """
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as failure:
        home = "a folder for temporary files"
        # On a full disk, gettempdir() finds no usable folder.
        with suppress(OSError):
            home = tempfile.gettempdir()
        raise Unavailable(f"the replay's index in {home} failed ({why(failure)}); TMPDIR names another place") from None


class _Process:
    """A segment of `count` arrivals in its own process. Answers come through a pipe, and wait in `arrived`."""

    def __init__(self, count: int, segment: _Segment) -> None:
        # A fresh interpreter does not accidentally share anything, such as an open database.
        context = multiprocessing.get_context("spawn")
        self.count = count
        self.arrived: deque[ReplayAnswer | Exception | None] = deque()
        self.pipe, child_end = context.Pipe()
        self.process = context.Process(target=_replay_segment, args=(child_end, segment), daemon=True)
        with signals_blocked():
            self.process.start()
        child_end.close()

    def give(self, issues: Sequence[PastIssue]) -> None:
        """Send the issues; return after the process has begun to read the issues."""
        # If the process has already ended, `receive` notices.
        with suppress(BrokenPipeError):
            self.pipe.send(issues)

    def receive(self) -> bool:
        """Receive a message or the end of the process; return True for a message about an arrival."""
        try:
            self.arrived.append(self.pipe.recv())
            return True
        except (EOFError, ConnectionResetError):
            self.pipe.close()
            self.process.join()
            self.arrived.append(DoppelError(f"a process of the replay ended with code {self.process.exitcode}"))
            return False

    def take(self) -> ReplayAnswer | None:
        """The next answer. Raises the process's error."""
        answer = self.arrived.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _receive(segments: Sequence[_Process], advance: Callable[[], None]) -> None:
    """Receive from every process that has sent something, so that a full pipe holds up no process."""
    by_pipe = {segment.pipe: segment for segment in segments if not segment.pipe.closed}
    for pipe in wait(list(by_pipe)):
        if by_pipe[pipe].receive():  # type: ignore[index]
            advance()


def _replay_segment(pipe: Connection, segment: _Segment) -> None:
    try:
        for answer in _answers(pipe.recv(), segment):
            pipe.send(answer)
    except (FutureLeak, Unavailable) as expected:
        pipe.send(expected)
    except Exception as failure:
        # Send the error as text, because some errors cannot be pickled.
        pipe.send(DoppelError(f"{type(failure).__name__}: {failure}"))


def replay_search(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: ReplayOptions,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[ReplayAnswer | None]:
    """Like `replay`, for all `issues`, with a simulated search. `advance` is called whenever an issue has arrived."""
    github = ReplayGitHub()
    settings = FinderSettings(budget=asking.budget, hybrid=HYBRID in asking.sources)
    model = Model.parse(asking.weights) if asking.weights else None
    finder = Finder(github, settings=settings, temporary=TemporaryIndexes(over=partial(Matcher, model=model)))
    for answer in replay(issues, asked, finder, github, asking.options()):
        advance()
        yield answer
