"""How many threads NumPy's library of linear algebra starts.

By default as many as there are processors, which wait for each other by spinning. The products of one find are too
small to be shared, and several processes that do so on the same processors take twice the time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """For this process, if NumPy is not loaded yet, and those that it starts; a host's own setting is kept."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")


@cache
def has_one_thread() -> bool:
    """Whether this process has been told so; to be asked when NumPy is loaded."""
    return os.environ.get(_THREADS[0]) == "1"


@contextmanager
def one_thread_each() -> Iterator[None]:
    """For the processes that are started meanwhile, whatever this one uses."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
