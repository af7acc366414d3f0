"""Asking when nobody waits for the answer (F8b): what the work of this thread asks over the network may take so long,
gets no place in a queue for a limit, and is not sent any more once its time is over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

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
    """What is asked inside has so many seconds, and what was not sent by the end is not sent; None: all the time."""
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
