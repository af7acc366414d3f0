"""A tracker with a clock of the test's own, and a tool that counts."""

from __future__ import annotations

import pytest

from bot.platform.call_tracker import ToolCallTracker


class Clock:
    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


class Tool:
    """Counts how often it is really called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return self.calls


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tracker(clock: Clock) -> ToolCallTracker:
    return ToolCallTracker(clock=clock)


def ask(tracker: ToolCallTracker, number: int, session: str = "s", tool: str = "webFetch") -> bool:
    """Whether the answer to this question came from memory."""
    return tracker.call(session, tool, {"url": f"u{number}"}, lambda: number).cached
