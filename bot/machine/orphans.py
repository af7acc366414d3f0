"""Processes that end when the one that has started them is gone, though it was killed and could tell nobody.

Those of a pool would wait for ever to be given more: each of them holds the pipe open through which that comes.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_at_work = threading.Lock()


def end_with_parent() -> None:
    """To be called in a process when it begins: it ends when its parent does, after what it is `at_work` on."""
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
