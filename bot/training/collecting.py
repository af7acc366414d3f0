"""What several files have to teach, read side by side, a process each, while somebody is told how far that is."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from bot.machine.blas import one_thread_each

Arrival = TypeVar("Arrival")

#: Is told of so many issues that are to be looked at, and so many that have been, since it was told last.
Progress = Callable[[int, int], None]

#: What is wrong with files that teach nothing.
TOO_FEW = "too few of their issues are known as duplicates (duplicate_of) of one that came before them"

_PATIENCE_SECONDS = 0.2


def collect_all(
    collect: Callable[[Path, Progress], list[Arrival]], files: Sequence[Path], progress: Progress
) -> list[Arrival]:
    """The arrivals of all files, in the order of the files; `collect` is pickled. Raises what it raises."""
    context = multiprocessing.get_context("spawn")
    with one_thread_each(), context.Manager() as manager, ProcessPoolExecutor(mp_context=context) as pool:
        told: queue.Queue[tuple[int, int]] = manager.Queue()
        parts = [pool.submit(collect, path, _Telling(told)) for path in files]
        try:
            while not (told.empty() and all(part.done() for part in parts)):
                with suppress(queue.Empty):
                    progress(*told.get(timeout=_PATIENCE_SECONDS))
        except KeyboardInterrupt:
            # Whoever finds nobody to tell stops, and puts away what it has made.
            manager.shutdown()
            pool.shutdown(cancel_futures=True)
            raise
        return [arrival for part in parts for arrival in part.result()]


class _Telling:
    """Tells the process that waits; a method of the queue itself cannot be pickled."""

    def __init__(self, told: queue.Queue[tuple[int, int]]) -> None:
        self._told = told

    def __call__(self, to_do: int, done: int) -> None:
        self._told.put((to_do, done))
