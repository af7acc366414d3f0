"""A fence for writes: each write first checks that this worker still holds the lease of the current job.

`bot.github` checks before every write to GitHub. Handlers and `bot.conversation` check before they store something
about an issue: if somebody deleted it, another worker may already have erased its data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from bot.domain.errors import Overtaken

TRUSTED_SECONDS = 5.0
"""For this many seconds after a check, data may be stored without another check. Each check renews the lease, which
writes to the queue's database: with a check each time, `bench.drain` handled 3 to 8% fewer events."""


@dataclass(slots=True)
class _Lease:
    is_held: Callable[[], bool]
    checked_at: float


_lease: ContextVar[_Lease | None] = ContextVar("lease", default=None)


@contextmanager
def working_under_lease(is_held: Callable[[], bool]) -> Iterator[None]:
    """Inside the block, `check_lease` asks `is_held`. Without a block, as outside of a job, every write passes.

    If the machine is suspended in the middle of a job, another worker can take the job over.
    What this worker knows is then outdated, and its writes could undo the other worker's.
    """
    token = _lease.set(_Lease(is_held, time.monotonic()))
    try:
        yield
    finally:
        _lease.reset(token)


def check_lease(trusted: float = 0.0) -> None:
    """Raise Overtaken if another worker has this thread's job now. A check in the last `trusted` seconds suffices."""
    lease = _lease.get()
    if lease is None or time.monotonic() - lease.checked_at < trusted:
        return
    if not lease.is_held():
        raise Overtaken("another worker has taken this over")
    lease.checked_at = time.monotonic()
