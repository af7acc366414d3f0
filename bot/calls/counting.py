"""Hits and misses of this process's tracker, added to counters that all processes share."""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from bot.calls.tracker import ToolCallTracker

log = logging.getLogger(__name__)

HITS, MISSES = "calls.hits", "calls.misses"


class Counters(Protocol):
    """`bot.store.counters.Counters`."""

    def increment(self, name: str, by: int = 1) -> None: ...


class CallCounts:
    """Adds what a tracker has counted since the last time. Thread safe."""

    def __init__(self, tracker: ToolCallTracker, counters: Counters) -> None:
        self._tracker = tracker
        self._counters = counters
        self._told = {HITS: 0, MISSES: 0}
        self._lock = threading.Lock()

    def flush(self) -> None:
        """Add what is new. What cannot be written is written the next time; no work fails for the sake of a count."""
        with self._lock:
            stats = self._tracker.get_stats()
            for name, now in ((HITS, stats["hits"]), (MISSES, stats["misses"])):
                # A tracker that was cleared counts from nought.
                new = now - self._told[name] if now >= self._told[name] else now
                if new:
                    try:
                        self._counters.increment(name, new)
                    except Exception as problem:
                        log.warning("could not count %s: %s", name, type(problem).__name__)
                        continue
                self._told[name] = now
