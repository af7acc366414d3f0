"""Ctrl-C, where a command works in several processes: a terminal sends it to all of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def held_back() -> Iterator[None]:
    """Within, it waits; the processes that are started meanwhile inherit that, and never hear it.

    This process ends them, and they need not say, each with a traceback, where they were. It finds none half made.
    """
    # The helper of multiprocessing's that is started with the first process would let go of what is held back.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
