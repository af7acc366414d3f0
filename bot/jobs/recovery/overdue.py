"""What runs in this process, and what has run for so long that it will never end.

Such a job would hold a lane of its installation and a place of its worker for ever. Python cannot stop a thread, so the
job is given up as a failed attempt, like one that raised, and the worker ends itself, to be started anew by whoever
watches it.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.jobs.queue.database import QUEUE, queue_for
from bot.jobs.queue.job import Message

LONGEST, LONGEST_BEHIND = 900.0, 6 * 3600.0
"""Seconds: for a delivery, whose every call to GitHub is bounded by half a minute; and for what nobody waits for, such
as replaying a repository's past."""

STOOD_STILL = 60.0
"""Seconds between two looks, of which a worker has one every few, after which it was not the jobs that hung."""


@dataclass(slots=True, eq=False)
class Running:
    """Something at work. `message` is None for what is no delivery, `until` in seconds of the clock.

    `ours` tells in any thread whether it is still this process's to do.
    """

    name: str
    message: Message | None
    until: float
    thread: int
    ours: Callable[[], bool] = lambda: True

    def may_take_longer(self) -> None:
        """What it is at from here on waits for the queue's database, which may be away for hours."""
        self.until = math.inf

    def stack(self) -> list[str]:
        """Where it is now, without any values; one line a frame, the innermost last."""
        frame = sys._current_frames().get(self.thread)
        return [f"{one.filename}:{one.lineno} in {one.name}" for one in traceback.extract_stack(frame)] if frame else []


class AtWork:
    """Thread safe. `clock` counts seconds and never jumps."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[Running] = set()
        self._told: set[Running] = set()
        self._looked = clock()

    def __len__(self) -> int:
        return len(self._running)

    @contextmanager
    def job(self, message: Message, ours: Callable[[], bool] = lambda: True) -> Iterator[Running]:
        """While a delivery is at work in this thread."""
        until = self._clock() + (LONGEST if queue_for(message.partition) == QUEUE else LONGEST_BEHIND)
        one = Running(f"delivery {message.delivery_id}", message, until, threading.get_ident(), ours)
        with self._watched(one):
            yield one

    @contextmanager
    def chore(self, name: str) -> Iterator[None]:
        """While a chore is at work in this thread."""
        with self._watched(Running(f"chore {name}", None, self._clock() + LONGEST_BEHIND, threading.get_ident())):
            yield

    def overdue(self) -> list[Running]:
        """What should have ended by now; each is told once. While the whole process stood still no time has passed."""
        now = self._clock()
        with self._lock:
            if (stood := now - self._looked) > STOOD_STILL:
                for one in self._running:
                    one.until += stood
            self._looked = now
            late = {one for one in self._running if one.until < now} - self._told
            self._told |= late
            return sorted(late, key=lambda one: one.until)

    @contextmanager
    def _watched(self, one: Running) -> Iterator[None]:
        with self._lock:
            self._running.add(one)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(one)
                self._told.discard(one)
