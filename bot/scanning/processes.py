"""Asking in several processes, which read the index side by side; this one keeps what they answer."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing

from bot.batches import batches
from bot.machine.orphans import end_with_parent
from bot.machine.signals import held_back
from bot.scanning.asking import Asker
from bot.scanning.model import Answer

#: Issues that a process is given at once: less than a second's work in a repository of 17,000, which a stop can cost.
PART = 20
#: As many are asked about in this process: to start others would take longer.
FEW = 50

_asker: Asker | None = None


def ask_in_processes(
    make: Callable[[], Asker], repo_id: int, numbers: Sequence[int], processes: int
) -> Iterator[list[Answer]]:
    """Answers for the issues, a part at a time in no order; `make` is pickled, and called once in each process.

    What it makes is closed in the end: it has a database of its own.

    Leaving the iteration early stops the processes after the part that each is at.
    """
    parts = list(batches(numbers, PART))
    if len(numbers) <= FEW:
        with closing(make()) as asker:
            for part in parts:
                yield asker.ask(repo_id, part)
        return
    context = multiprocessing.get_context("spawn")
    with held_back(signal.SIGTERM):
        pool = ProcessPoolExecutor(min(processes, len(parts)) or 1, context, _begin, (make,))
    try:
        # They are started where they are given something to do.
        with held_back(signal.SIGTERM):
            asked = [pool.submit(_ask, repo_id, part) for part in parts]
        for done in as_completed(asked):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(make: Callable[[], Asker]) -> None:
    global _asker
    end_with_parent()
    _asker = make()


def _ask(repo_id: int, numbers: Sequence[int]) -> list[Answer]:
    assert _asker is not None
    return _asker.ask(repo_id, numbers)
