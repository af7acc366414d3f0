"""Waiting for what another thread or process does: for the condition itself, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds that only bound a hang: nothing that works takes so long.
LONGEST = 600.0


def wait_until(
    happened: Callable[[], object], what: str = "it", *, seconds: float = LONGEST, every: float = 0.01
) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"{what} did not happen in time"
        time.sleep(every)


def stays(holds: Callable[[], object], seconds: float = 0.3) -> None:
    """What must not happen has no moment to wait for, so it is looked for during a while: a busy machine sees less."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert holds(), "it did not stay so"
        time.sleep(0.01)
