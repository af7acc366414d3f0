"""What the present thread is working on, for its log lines, its metrics and its traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """A delivery on its way in, or a job of the queue.

    `delivery` is `X-GitHub-Delivery`, `job` what is done (`issues.opened`), `attempt` counts from 1, `arrived` is when
    the delivery was accepted, in seconds since 1970. What is not known is empty.
    """

    delivery: str = ""
    job: str = ""
    attempt: int = 0
    arrived: float = 0.0


_NOTHING = Work()
_current: ContextVar[Work] = ContextVar("work", default=_NOTHING)


def current() -> Work:
    """What is worked on here and now; empty outside of any work."""
    return _current.get()


@contextmanager
def working_on(work: Work) -> Iterator[None]:
    """What happens inside belongs to this work."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """The function for other threads, to run as if it were called here: a pool's threads know of no work.

    Each call has a copy of its own, since two threads cannot be in one context.
    """
    here = copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return here.copy().run(function, *args, **kwargs)

    return run
