"""What files have to teach: their issues, compared as they arrived with those before them.

Several are read side by side, a process each, while somebody is told how far that is.
"""

from __future__ import annotations

import multiprocessing
import pickle
import queue
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cached_property, partial
from multiprocessing.managers import SyncManager
from pathlib import Path
from typing import Protocol

import numpy as np

from bot.evaluation.labels import Labels, read_labels, to_learn_from
from bot.index.postings.packing import Floats, Integers
from bot.machine.blas import one_thread_each
from bot.machine.orphans import at_work, end_with_parent
from bot.machine.signals import held_back
from bot.model import Issue
from bot.replay import PastIssue, read_archive
from bot.training.arrival import Arrival
from bot.training.beginning import beginning, grown_from

#: Is told of so many issues that are to be looked at, and so many that have been, since it was told last.
Progress = Callable[[int, int], None]

#: What is wrong with files that teach nothing.
TOO_FEW = "too few issues there are known as duplicates (duplicate_of) of one that came before them"

_PATIENCE_SECONDS = 0.2


class Repository(Protocol):
    """A repository in which issues arrive, and can be compared with those that came before them."""

    def arrive(self, past: PastIssue) -> Issue:
        """The next issue, numbered from 1 on."""
        ...

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The numbers of the candidates for the issue that arrived last, and (candidates, features)."""
        ...

    def keep(self, issue: Issue) -> None:
        """The issue that arrived last has been looked at, and is one of those before the next."""
        ...


Open = Callable[[], AbstractContextManager[Repository]]
"""An empty repository; it is pickled."""


def collect_all(opened: Open, files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """The arrivals of all files, in the order of the files. Raises what `collect` raises."""
    one = partial(collect, opened, others=others, seed=seed)
    # For a single one no other process is worth its start.
    return _side_by_side(one, files, progress) if len(files) > 1 else one(files[0], progress)


def _side_by_side(
    one: Callable[[Path, Progress], list[Arrival]], files: Sequence[Path], progress: Progress
) -> list[Arrival]:
    context = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        stack.enter_context(one_thread_each())
        with held_back(signal.SIGTERM):
            manager = SyncManager(ctx=context)
            manager.start(end_with_parent)
            stack.enter_context(manager)
        pool = stack.enter_context(ProcessPoolExecutor(mp_context=context, initializer=end_with_parent))
        told: queue.Queue[tuple[int, int]] = manager.Queue()
        try:
            # The processes are started where they are given something to do.
            with held_back(signal.SIGTERM):
                parts = [pool.submit(at_work, one, path, _Telling(told)) for path in files]
            while not (told.empty() and all(part.done() for part in parts)):
                with suppress(queue.Empty):
                    progress(*told.get(timeout=_PATIENCE_SECONDS))
                # A file that cannot be read is told of now, and not when the others have been read for hours.
                for part in parts:
                    if part.done():
                        part.result()
        except (KeyboardInterrupt, Exception):
            # Whoever finds nobody to tell stops, and puts away what it has made.
            manager.shutdown()
            pool.shutdown(cancel_futures=True)
            raise
        return [arrival for part in parts for arrival in part.result()]


def collect(opened: Open, path: Path, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """What one file has to teach: each duplicate, the first issues, and a seeded sample of the others."""
    issues, labels = read_archive(path), read_labels(path)
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    progress(len(chosen), 0)
    with opened() as repository:
        return list(_compared(repository, issues, labels, chosen, progress))


def _compared(
    repository: Repository,
    issues: Sequence[PastIssue],
    labels: Labels,
    chosen: Mapping[int, float],
    progress: Progress,
) -> Iterator[Arrival]:
    """The chosen issues in order; those without candidates teach nothing."""
    grown = grown_from(issues)
    for position, past in enumerate(issues):
        issue = repository.arrive(past)
        if position in chosen:
            numbers, values = repository.compared(issue)
            group = labels.group[past.id]
            same = [float(labels.group[issues[number - 1].id] == group) for number in numbers.tolist()]
            if same:
                back, young = position - numbers, position < grown
                yield Arrival(position, values, back, np.array(same), chosen[position], young)
            progress(0, 1)
        repository.keep(issue)


class _Telling:
    """Tells the process that waits; a method of the queue itself cannot be pickled.

    Where the queue is gone since all is to end, it is the work that fails, which nobody asks about any more. A process
    that was handed the queue would fail before it has anything to do, and say so.
    """

    def __init__(self, told: queue.Queue[tuple[int, int]]) -> None:
        self._pickled = pickle.dumps(told)

    def __call__(self, to_do: int, done: int) -> None:
        self._told.put((to_do, done))

    @cached_property
    def _told(self) -> queue.Queue[tuple[int, int]]:
        # By the process that has started this one.
        told: queue.Queue[tuple[int, int]] = pickle.loads(self._pickled)  # noqa: S301
        return told
