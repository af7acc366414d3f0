"""T4 beyond one process: hits and misses are told to the process's metrics."""

from __future__ import annotations

from collections import Counter

from bot.platform.call_tracker import CallCounts, ToolCallTracker


class Told:
    def __init__(self) -> None:
        self.values: Counter[str] = Counter()

    def __call__(self, tool: str, who: str, times: int) -> None:
        self.values[f"{tool} {who}"] += times


def ask(tracker: ToolCallTracker, *numbers: int) -> None:
    for number in numbers:
        tracker.call("s", "webFetch", {"url": f"u{number}"}, lambda: 1)


def test_t4_what_is_new_is_told_once() -> None:
    tracker, told = ToolCallTracker(), Told()
    counts = CallCounts(tracker, told)
    counts.flush()
    assert told.values == {}
    ask(tracker, 1, 1, 2)
    counts.flush()
    counts.flush()
    assert told.values == {"webFetch memory": 1, "webFetch github": 2}
    ask(tracker, 1)
    counts.flush()
    assert told.values == {"webFetch memory": 2, "webFetch github": 2}
    tracker.clear_all()
    ask(tracker, 1)
    counts.flush()
    assert told.values == {"webFetch memory": 2, "webFetch github": 3}
