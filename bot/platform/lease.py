"""What the work of this thread is bound to: whether it is still this process's to do, and how long it may take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from bot.domain.errors import Overtaken

_held: ContextVar[Callable[[], bool]] = ContextVar("held", default=lambda: True)


@contextmanager
def held(still: Callable[[], bool]) -> Iterator[None]:
    """What happens inside is ours only as long as `still` says so, which is asked before anything is written on GitHub.

    A machine can stand still in the middle of a job for so long that another worker takes that over. When it goes on,
    what it has read is old, and what it would write may undo what the other has written. Outside of a job all is ours.
    """
    token = _held.set(still)
    try:
        yield
    finally:
        _held.reset(token)


def make_sure() -> None:
    """Raises Overtaken where the work is another's by now."""
    if not _held.get()():
        raise Overtaken("another worker has taken this over")


_hurry: ContextVar[Hurry | None] = ContextVar("hurry", default=None)


@dataclass(frozen=True, slots=True)
class Hurry:
    """`seconds` is what a request may take, waiting and repeating included; `over` says that all are too late."""

    seconds: float
    over: threading.Event = field(default_factory=threading.Event)


def hurry() -> Hurry | None:
    """The hurry that this thread is in; None where whoever asks waits for the answer."""
    return _hurry.get()


@contextmanager
def hurried(seconds: float | None) -> Iterator[None]:
    """What is asked inside has so many seconds, and what was not sent by the end is not sent; None: all the time.

    Nobody waits for the answers (F8b), so that none gets a place in a queue for a limit.
    """
    if seconds is None:
        yield
        return
    present = Hurry(seconds)
    token = _hurry.set(present)
    try:
        yield
    finally:
        _hurry.reset(token)
        present.over.set()
