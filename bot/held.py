"""Whether the work of this thread is still this process's to do, asked before anything is written on GitHub.

A machine can stand still in the middle of a job for so long that another worker takes that over. When it goes on, what
it has read is old, and what it would write may undo what the other has written. Outside of a job all is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bot.errors import Overtaken

_held: ContextVar[Callable[[], bool]] = ContextVar("held", default=lambda: True)


@contextmanager
def held(still: Callable[[], bool]) -> Iterator[None]:
    """What happens inside is ours only as long as `still` says so."""
    token = _held.set(still)
    try:
        yield
    finally:
        _held.reset(token)


def make_sure() -> None:
    """Raises Overtaken where the work is another's by now."""
    if not _held.get()():
        raise Overtaken("another worker has taken this over")
