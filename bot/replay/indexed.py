"""A replay: over an index, on as many processors as there are, or over GitHub's search, simulated in this process.

Over an index the arrivals are cut into segments. Each has a process and an index of its own, which reads at once what
came before its segment and goes on in order: the same answers as one process would give, sooner.
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

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.embedding import Embedder, TextModel, choose_embedder
from bot.errors import DoppelError, Unavailable
from bot.finder import Finder, FinderSettings, Outside
from bot.index import TextAnalyser
from bot.index.ephemeral import ephemeral_index
from bot.machine.pools import held_back
from bot.matching import Matcher
from bot.matching.model import Model
from bot.replay.archive import PastIssue
from bot.replay.asking import Asking
from bot.replay.github import ReplayGitHub
from bot.replay.running import Answered, Asked, FutureLeak, Mirror, replay
from bot.sources.choosing import only
from bot.sources.github import HYBRID
from bot.store.database.failures import why

#: Fewer arrivals are not worth a process, which takes a second to start and must read all that came before.
LEAST_SEGMENT = 500

_REPO = 1


@dataclass(frozen=True, slots=True)
class _Segment:
    """The arrivals from `start` on, of which some are `asked` about; its file is made in a folder."""

    start: int
    asked: frozenset[int]
    asking: Asking
    within: Path | None = None


def replay_index(
    issues: Sequence[PastIssue],
    asked: Collection[int],
    asking: Asking,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Generator[Answered | None, None, None]:
    """Like `replay`, for all `issues`, with an index; `jobs` is how many processes there are (None: processors).

    `advance` is called whenever an issue has arrived in one of them; answers are yielded in order nevertheless.
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
        yield from _side_by_side(issues, sorted(asked), count, asking, advance)


def _side_by_side(
    issues: Sequence[PastIssue],
    positions: Sequence[int],
    count: int,
    asking: Asking,
    advance: Callable[[], None],
) -> Iterator[Answered | None]:
    """The arrivals from the first of these positions on, in `count` processes."""
    first = positions[0]
    starts = [first, *(positions[len(positions) * part // count] for part in range(1, count))]
    ends = [*starts[1:], len(issues)]
    segments: list[_Process] = []
    with ExitStack() as stack:
        # Files are put away by the process that outlives the others, however those end.
        with _telling():
            made = tempfile.TemporaryDirectory(prefix="doppel-", ignore_cleanup_errors=True)
        home = Path(stack.enter_context(made))
        stack.callback(_end, segments)
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


def _end(segments: Sequence[_Process]) -> None:
    for segment in segments:
        segment.stop()
    for segment in segments:
        segment.join()


def _answers(issues: Sequence[PastIssue], segment: _Segment) -> Iterator[Answered | None]:
    asking, model = segment.asking, choose_embedder()
    embedder = None if model is None else _Remembering(model)
    with _telling(), ephemeral_index(TextAnalyser(), embedder, segment.within, TextModel()) as index:
        github = ReplayGitHub(searchable=False)
        weights = Model.parse(asking.weights) if asking.weights else None
        settings = FinderSettings(sources=only(*asking.sources))
        judge = None if asking.floor is None else Asked(asking.floor)
        finder = Finder(
            github,
            settings=settings,
            matcher=Matcher(index, weights, most=None),
            outside=Outside(index),
            repo_id=_REPO,
            judge=judge,
        )
        mirror = Mirror(index, _REPO)
        yield from replay(issues, segment.asked, finder, github, asking.options(), mirror, segment.start, judge)


@contextmanager
def _telling() -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors, and of the system's about the index's file or its folder.

    Whoever writes the answers would take the latter for what is wrong with the file of these.
    """
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as failure:
        home = "a folder for temporary files"
        # On a full disk there is no folder that can be used.
        with suppress(OSError):
            home = tempfile.gettempdir()
        raise Unavailable(f"the replay's index in {home} failed ({why(failure)}); TMPDIR names another place") from None


class _Remembering:
    """A model that is not asked again for its last texts: an issue is asked about and then put into the index."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._last: tuple[tuple[str, ...], NDArray[np.float32]] = ((), np.zeros((0, 0), dtype=np.float32))

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def remote(self) -> bool:
        return self._model.remote

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        texts = tuple(texts)
        if texts != self._last[0]:
            self._last = (texts, self._model.embed(texts))
        return self._last[1]


class _Process:
    """A segment in a process of its own. What it answers comes through a pipe; `arrived` is what is not taken yet."""

    def __init__(self, count: int, segment: _Segment) -> None:
        """`count` is how many arrivals the segment has."""
        # A fresh interpreter: nothing of this process, such as an open database, is shared by accident.
        context = multiprocessing.get_context("spawn")
        self.count = count
        self.arrived: deque[Answered | Exception | None] = deque()
        self.pipe, there = context.Pipe()
        self._process = context.Process(target=_run, args=(there, segment), daemon=True)
        with held_back():
            self._process.start()
        there.close()

    def give(self, issues: Sequence[PastIssue]) -> None:
        """Send what the process works on; returns when it has begun to read."""
        # One that has ended already tells so when it is asked for its answers.
        with suppress(BrokenPipeError):
            self.pipe.send(issues)

    def receive(self) -> bool:
        """Take in one message, or that the process has ended; whether it was an issue's arrival."""
        try:
            self.arrived.append(self.pipe.recv())
            return True
        except (EOFError, ConnectionResetError):
            self.pipe.close()
            self._process.join()
            self.arrived.append(DoppelError(f"a process of the replay ended with code {self._process.exitcode}"))
            return False

    def take(self) -> Answered | None:
        """The next answer. Raises what went wrong in the process."""
        answer = self.arrived.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stop(self) -> None:
        """Tell the process to end."""
        self._process.terminate()

    def join(self) -> None:
        """Wait until it has."""
        self._process.join()


def _receive(segments: Sequence[_Process], advance: Callable[[], None]) -> None:
    """Take in what any of the processes has to say, so that none waits until it is its turn."""
    by_pipe = {segment.pipe: segment for segment in segments if not segment.pipe.closed}
    for pipe in wait(list(by_pipe)):
        if by_pipe[pipe].receive():  # type: ignore[index]
            advance()


def _run(there: Connection, segment: _Segment) -> None:
    try:
        for answer in _answers(there.recv(), segment):
            there.send(answer)
    except (FutureLeak, Unavailable) as known:
        there.send(known)
    except Exception as failure:
        # In words: not every error can be sent.
        there.send(DoppelError(f"{type(failure).__name__}: {failure}"))


def replay_search(
    issues: Sequence[PastIssue], asked: Collection[int], asking: Asking, advance: Callable[[], None] = lambda: None
) -> Iterator[Answered | None]:
    """Like `replay`, for all `issues`; `advance` is called whenever one has arrived."""
    github = ReplayGitHub()
    settings = FinderSettings(budget=asking.budget, hybrid=HYBRID in asking.sources)
    model = Model.parse(asking.weights) if asking.weights else None
    finder = Finder(github, settings=settings, outside=Outside(over=partial(Matcher, model=model)))
    for answer in replay(issues, asked, finder, github, asking.options()):
        advance()
        yield answer
