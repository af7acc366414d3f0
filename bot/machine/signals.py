"""Signals that end a command which works in several processes: all of these get them, not only the first.

A terminal sends Ctrl-C to all, and its end (SIGHUP); a service manager may send SIGTERM to all.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def held_back(*more: signal.Signals) -> Iterator[None]:
    """Within, SIGINT, SIGHUP and `more` wait; the processes that are started meanwhile inherit that, and never hear
    them.

    This process ends them, by SIGTERM unless that is one of `more`. So they put away what they have made, and need not
    say, each with a traceback, where they were. It finds none half made.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        # The helper of multiprocessing's is started with the first process: it does not know SIGHUP, of which it is
        # spared now, and would let go of the others.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
