"""The delivery or job that a thread is working on, for its log lines, metrics and traces."""

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
    """A delivery on its way in, or a job of the queue. Unknown fields are empty.

    `delivery` is `X-GitHub-Delivery`, `job` its event (`issues.opened`), `attempt` counts from 1, `arrived` is when the
    delivery was accepted, in seconds since 1970.
    """

    delivery: str = ""
    job: str = ""
    attempt: int = 0
    arrived: float = 0.0


_NOTHING = Work()
_current: ContextVar[Work] = ContextVar("work", default=_NOTHING)


def current() -> Work:
    """This thread's work; empty outside of any."""
    return _current.get()


@contextmanager
def working_on(work: Work) -> Iterator[None]:
    """Run the block as part of this work."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """The function for a pool's threads, where each call runs in a copy of the present context."""
    here = copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return here.copy().run(function, *args, **kwargs)

    return run
