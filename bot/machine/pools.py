"""The processes of a pool: how they end, when somebody ends the first one, or it is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_at_work = threading.Lock()


def end_with_parent() -> None:
    """To be called in a process when it begins: it ends when its parent does, after what it is `at_work` on.

    It would else wait for ever to be given more: each process of a pool holds the pipe open through which that comes.
    """
    threading.Thread(target=_follow, daemon=True).start()


def at_work(do: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """What `do` answers; what it has made is put away before this process ends with its parent."""
    with _at_work:
        return do(*arguments, **options)


def _follow() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "somebody has started it"
    parent.join()
    with _at_work:
        # The main thread, which waits, hears nothing of an exception in this one; and signals may be held back.
        os._exit(1)


@contextmanager
def held_back(*more: signal.Signals) -> Iterator[None]:
    """Within, SIGINT, SIGHUP and `more` wait; the processes that are started meanwhile inherit that, and never hear
    them.

    A terminal sends Ctrl-C and its end to all processes, a service manager perhaps SIGTERM. This process ends the
    others, by SIGTERM unless that is one of `more`: so they put away what they have made, and need not say, each with a
    traceback, where they were. It finds none half made.
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
