"""Ends the processes of a pool when their parent ends or dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


def end_with_parent() -> None:
    """End this process with its parent; it would else wait for more work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "somebody has started it"

    def follow() -> None:
        parent.join()
        # The main thread, which waits, would not see an exception in this one; and signals may be blocked.
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def held_back(*more: signal.Signals) -> Iterator[None]:
    """Block SIGINT, SIGHUP and `more`. Processes that start meanwhile inherit that, and never see these signals.

    A terminal sends SIGINT and SIGHUP to all processes, a service manager perhaps SIGTERM. Only this process then ends
    the others, by SIGTERM unless that is one of `more`, so they clean up, and print no tracebacks.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        # multiprocessing's helper starts with the first process. If it starts here, SIGHUP cannot end it. If it started
        # later, it would unblock the other signals.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
