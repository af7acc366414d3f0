"""T4 beyond one process: hits and misses are told to the process's metrics."""

from __future__ import annotations

import threading
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


def test_t4_threads_tell_nothing_twice() -> None:
    tracker, told = ToolCallTracker(max_history_per_session=500), Told()
    counts = CallCounts(tracker, told)

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
    assert told.values == {"webFetch memory": 200, "webFetch github": 200}
