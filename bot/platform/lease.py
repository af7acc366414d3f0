"""A fence for writes: before each, the lease of the job that this thread works on is checked.

`bot.github` does so before every write to GitHub, and the handlers before they store something about an issue: another
worker may have forgotten the issue meanwhile, because it was deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bot.domain.errors import Overtaken

_is_held: ContextVar[Callable[[], bool]] = ContextVar("lease", default=lambda: True)


@contextmanager
def working_under_lease(is_held: Callable[[], bool]) -> Iterator[None]:
    """Inside the block, `check_lease` asks `is_held`. Outside of a job, `check_lease` lets every write pass.

    Why: a machine can be suspended in the middle of a job until another worker takes the job over. The first worker's
    knowledge is then outdated, and its writes could undo the second worker's.
    """
    token = _is_held.set(is_held)
    try:
        yield
    finally:
        _is_held.reset(token)


def check_lease() -> None:
    """Raise Overtaken if another worker has taken over this thread's job."""
    if not _is_held.get()():
        raise Overtaken("another worker has taken this over")
