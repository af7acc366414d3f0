"""T4 beyond one process: hits and misses are added to shared counters."""

from __future__ import annotations

import threading

import pytest

from bot.calls import CallCounts, ToolCallTracker


class Counters:
    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.broken = False

    def increment(self, name: str, by: int = 1) -> None:
        if self.broken:
            raise OSError("the disk is full")
        self.values[name] = self.values.get(name, 0) + by


def ask(tracker: ToolCallTracker, *numbers: int) -> None:
    for number in numbers:
        tracker.call("s", "webFetch", {"url": f"u{number}"}, lambda: 1)


def test_t4_what_is_new_is_added_once() -> None:
    tracker, counters = ToolCallTracker(), Counters()
    counts = CallCounts(tracker, counters)
    counts.flush()
    assert counters.values == {}
    ask(tracker, 1, 1, 2)
    counts.flush()
    counts.flush()
    assert counters.values == {"calls.hits": 1, "calls.misses": 2}
    ask(tracker, 1)
    counts.flush()
    assert counters.values == {"calls.hits": 2, "calls.misses": 2}
    tracker.clear_all()
    ask(tracker, 1)
    counts.flush()
    assert counters.values == {"calls.hits": 2, "calls.misses": 3}


def test_t4_what_cannot_be_written_is_written_later(caplog: pytest.LogCaptureFixture) -> None:
    tracker, counters = ToolCallTracker(), Counters()
    counts = CallCounts(tracker, counters)
    ask(tracker, 1, 1)
    counters.broken = True
    counts.flush()
    assert "could not count" in caplog.text
    counters.broken = False
    counts.flush()
    assert counters.values == {"calls.hits": 1, "calls.misses": 1}


def test_t4_threads_count_nothing_twice() -> None:
    tracker, counters = ToolCallTracker(max_history_per_session=500), Counters()
    counts = CallCounts(tracker, counters)

    def work(start: int) -> None:
        for number in range(start, start + 50):
            ask(tracker, number, number)
            counts.flush()

    threads = [threading.Thread(target=work, args=(100 * index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts.flush()
    assert counters.values == {"calls.hits": 200, "calls.misses": 200}
