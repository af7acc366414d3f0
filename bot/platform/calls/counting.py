"""Hits and misses of this process's tracker, for its metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bot.platform.calls.tracker import ToolCallTracker

#: Who answered: what a thread remembered, or GitHub.
HITS, MISSES = "memory", "github"


class CallCounts:
    """Tells what a tracker has counted since the last time, tool by tool (T7). Thread safe."""

    def __init__(self, tracker: ToolCallTracker, tell: Callable[[str, str, int], object]) -> None:
        """`tell` takes the tool, who answered, and how often that was."""
        self._tracker = tracker
        self._tell = tell
        self._told: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def flush(self) -> None:
        """Tell what is new."""
        with self._lock:
            for tool, counts in self._tracker.by_tool().items():
                for who, now in zip((HITS, MISSES), counts, strict=True):
                    told = self._told.get((tool, who), 0)
                    # A tracker that was cleared counts from nought.
                    if new := now - told if now >= told else now:
                        self._tell(tool, who, new)
                    self._told[tool, who] = now
