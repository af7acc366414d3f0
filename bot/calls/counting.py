"""Hits and misses of this process's tracker, for its metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.calls.tracker import ToolCallTracker

#: Who answered: what a thread remembered, or GitHub.
HITS, MISSES = "memory", "github"


class CallCounts:
    """Tells what a tracker has counted since the last time. Thread safe."""

    def __init__(self, tracker: ToolCallTracker, tell: Callable[[str, int], object]) -> None:
        """`tell` takes who answered, and how often that was."""
        self._tracker = tracker
        self._tell = tell
        self._told = {HITS: 0, MISSES: 0}
        self._lock = threading.Lock()

    def flush(self) -> None:
        """Tell what is new."""
        with self._lock:
            stats = self._tracker.get_stats()
            for name, now in ((HITS, stats["hits"]), (MISSES, stats["misses"])):
                # A tracker that was cleared counts from nought.
                new = now - self._told[name] if now >= self._told[name] else now
                if new:
                    self._tell(name, new)
                self._told[name] = now
