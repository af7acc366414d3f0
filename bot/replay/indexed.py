"""A replay over an index, on as many processors as there are.

The arrivals are cut into segments. Each has a process and an index of its own, which reads at once what came before its
segment and goes on in order: the same answers as one process would give, sooner.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

import sqlalchemy as sa

from bot.embedding import TextModel, choose_embedder
from bot.errors import DoppelError, Unavailable
from bot.finder import Finder, FinderSettings
from bot.index import Index, TextAnalyser
from bot.index.ephemeral import ephemeral_index
from bot.machine.signals import held_back
from bot.matching import Matcher
from bot.matching.model import Model
from bot.replay.archive import PastIssue
from bot.replay.asking import Asking
from bot.replay.failing import telling
from bot.replay.github import ReplayGitHub
from bot.replay.mirror import Mirror
from bot.replay.remembering import Remembering
from bot.replay.rooms import new_room, put_away
from bot.replay.running import Answered, FutureLeak, replay
from bot.sources.choosing import only
from bot.store.database.engine import make_engine
from bot.store.database.migrate import migrate

#: Fewer arrivals are not worth a process, which takes a second to start and must read all that came before.
LEAST_SEGMENT = 500


@dataclass(frozen=True, slots=True)
class _Segment:
    """The arrivals from `start` on, of which some are `asked` about, in a repository and a folder of their own."""

    start: int
    asked: frozenset[int]
    asking: Asking
    repo_id: int
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
    room = new_room()
    for _ in range(first):
        advance()
        yield None
    if count == 1:
        for answer in _answers(issues, _Segment(first, frozenset(asked), asking, room)):
            advance()
            yield answer
    else:
        yield from _side_by_side(issues, sorted(asked), count, asking, room, advance)


def _side_by_side(
    issues: Sequence[PastIssue],
    positions: Sequence[int],
    count: int,
    asking: Asking,
    room: int,
    advance: Callable[[], None],
) -> Iterator[Answered | None]:
    """The arrivals from the first of these positions on, in `count` processes; each has a `room` below the last's."""
    first = positions[0]
    starts = [first, *(positions[len(positions) * part // count] for part in range(1, count))]
    ends = [*starts[1:], len(issues)]
    segments: list[_Process] = []
    with ExitStack() as stack:
        # Files are put away by the process that outlives the others, however those end.
        with telling(""):
            made = tempfile.TemporaryDirectory(prefix="doppel-", ignore_cleanup_errors=True)
        home = Path(stack.enter_context(made))
        stack.callback(_end, segments, asking.store)
        for part, (start, end) in enumerate(zip(starts, ends, strict=True)):
            places = frozenset(place for place in positions if start <= place < end)
            segments.append(_Process(end - start, _Segment(start, places, asking, room - part, home)))
        for segment, end in zip(segments, ends, strict=True):
            segment.give(issues[:end])
        for segment in segments:
            for _ in range(segment.count):
                while not segment.arrived:
                    _receive(segments, advance)
                yield segment.take()


def _end(segments: Sequence[_Process], store: str) -> None:
    for segment in segments:
        segment.stop()
    killed = [segment.repo_id for segment in segments if not segment.join()]
    if store and killed:
        # What is in a database that was named shall not stay behind. One that fails here has failed before, which is
        # told; one without tables has nothing.
        with suppress(sa.exc.SQLAlchemyError, OSError), _engine(store) as engine:
            index = Index(engine, TextAnalyser())
            for repo_id in killed:
                index.forget(repo_id)


def _answers(issues: Sequence[PastIssue], segment: _Segment) -> Iterator[Answered | None]:
    asking, repo_id = segment.asking, segment.repo_id
    with telling(asking.store), _index(asking.store, repo_id, segment.within) as index:
        github = ReplayGitHub(searchable=False)
        model = Model.parse(asking.weights) if asking.weights else None
        settings = FinderSettings(sources=only(*asking.sources))
        finder = Finder(github, settings=settings, matcher=Matcher(index, model, most=None), repo_id=repo_id)
        yield from replay(
            issues, segment.asked, finder, github, asking.options(), Mirror(index, repo_id), segment.start
        )


@contextmanager
def _index(store: str, repo_id: int, within: Path | None) -> Iterator[Index]:
    """An empty index, which is gone afterwards. Its model remembers the text that is asked about until it is put in."""
    model = choose_embedder()
    embedder = None if model is None else Remembering(model)
    if not store:
        with ephemeral_index(TextAnalyser(), embedder, within, TextModel()) as index:
            yield index
        return
    with _engine(store) as engine:
        migrate(engine)
        # Figures must not depend on how many processes there are, or on the database.
        index = Index(engine, TextAnalyser(), embedder, text_model=TextModel())
        put_away(index, engine)
        try:
            yield index
        finally:
            index.forget(repo_id)


@contextmanager
def _engine(store: str) -> Iterator[sa.Engine]:
    engine = make_engine(store)
    try:
        yield engine
    finally:
        engine.dispose()


class _Process:
    """A segment in a process of its own. What it answers comes through a pipe; `arrived` is what is not taken yet."""

    def __init__(self, count: int, segment: _Segment) -> None:
        """`count` is how many arrivals the segment has."""
        # A fresh interpreter: nothing of this process, such as an open database, is shared by accident.
        context = multiprocessing.get_context("spawn")
        self.count = count
        self.repo_id = segment.repo_id
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

    def join(self) -> bool:
        """Wait until it has; whether it had done so by itself, and has put away what it made."""
        self._process.join()
        return self._process.exitcode == 0


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
