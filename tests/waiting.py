"""Waiting for what another thread or process does: for the condition itself, however busy the machine is."""

from __future__ import annotations

from collections.abc import Callable

# By name: a test may replace them in `time`.
from time import monotonic, sleep

#: Seconds that only bound a hang: nothing that works takes so long.
LONGEST = 600.0


def wait_until(
    happened: Callable[[], object], what: str = "it", *, seconds: float = LONGEST, every: float = 0.01
) -> None:
    end = monotonic() + seconds
    while not happened():
        assert monotonic() < end, f"{what} did not happen in time"
        sleep(every)


def stays(holds: Callable[[], object], seconds: float = 0.3) -> None:
    """What must not happen has no moment to wait for, so it is looked for during a while: a busy machine sees less."""
    end = monotonic() + seconds
    while monotonic() < end:
        assert holds(), "it did not stay so"
        sleep(0.01)
