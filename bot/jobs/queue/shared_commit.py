"""Threads that have something to commit at the same moment share one commit.

A commit waits for the disk, and SQLite lets one writer in at a time: eight threads would wait eight times. Here the
first of them writes for all that are waiting, and while it waits for the disk the next ones gather. Databases call this
group commit (Gawlick and Kinkade, "Varieties of Concurrency Control in IMS/VS Fast Path", 1985).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.jobs.queue.job import QueueUnavailable

Item = TypeVar("Item")
_BUSY = "the queue's database is busy"


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Item]):
    item: Item
    settled: bool = False
    new: bool = False
    failure: Exception | None = None


class SharedCommit(Generic[Item]):
    """`write` commits all the items it is given in one transaction and says of each whether it was new."""

    def __init__(self, write: Callable[[Sequence[Item]], Sequence[bool]], patience: float) -> None:
        """`patience` is how many seconds an item waits for its turn, the writing itself not counted."""
        self._write = write
        self._patience = patience
        self._changed = threading.Condition()
        self._waiting: list[_Waiting[Item]] = []
        self._writing = False

    def put(self, item: Item) -> bool:
        """Whether the item was new; it is committed when this returns.

        Raises QueueUnavailable, or what `write` raised for the items that it was given together.
        """
        own = _Waiting(item)
        deadline = time.monotonic() + self._patience
        with self._changed:
            self._waiting.append(own)
            while self._writing and not own.settled:
                # What has been taken is written or refused before long: the database has a patience of its own.
                taken = own not in self._waiting
                if not self._changed.wait(None if taken else deadline - time.monotonic()) and own in self._waiting:
                    self._waiting.remove(own)
                    raise QueueUnavailable(_BUSY)
            if not own.settled:
                batch, self._waiting, self._writing = self._waiting, [], True
        if not own.settled:
            self._settle(batch)
        if own.failure is not None:
            raise own.failure
        return own.new

    def _settle(self, batch: Sequence[_Waiting[Item]]) -> None:
        # What even the end of this thread leaves to the others: that nothing is known to be written.
        failure: Exception | None = QueueUnavailable(_BUSY)
        outcomes: Sequence[bool] = [False] * len(batch)
        try:
            outcomes = self._write([one.item for one in batch])
            failure = None
        except Exception as problem:
            failure = problem
        finally:
            with self._changed:
                for one, new in zip(batch, outcomes, strict=True):
                    one.settled, one.new, one.failure = True, new, failure
                self._writing = False
                self._changed.notify_all()
