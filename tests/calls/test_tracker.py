"""T1, T2, T4: what is remembered, for whom, for how long, and how it is said."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bot.domain.errors import InvalidArgument
from bot.platform.call_rules import equal, never
from bot.platform.call_tracker import ToolCallTracker, get_tool_call_tracker, set_tool_call_tracker
from tests.calls.conftest import Clock, Tool, ask


def test_t1_the_oldest_leave_a_full_session(tracker: ToolCallTracker) -> None:
    for number in range(51):
        assert not ask(tracker, number)
    assert ask(tracker, 1)
    assert not ask(tracker, 0)


def test_t1_entries_expire_with_age(tracker: ToolCallTracker, clock: Clock) -> None:
    ask(tracker, 1)
    clock.time += 300
    assert ask(tracker, 1)
    clock.time += 0.01
    assert not ask(tracker, 1)
    assert ask(tracker, 1)


def test_t1_a_clock_that_is_set_back_keeps_nothing_for_ever(tracker: ToolCallTracker, clock: Clock) -> None:
    ask(tracker, 1)
    clock.time -= 299
    assert ask(tracker, 1)
    clock.time -= 100_000
    assert not ask(tracker, 1)
    assert tracker.get_stats()["total_calls"] == 1


def test_t1_sessions_never_see_each_others_results(tracker: ToolCallTracker) -> None:
    assert not ask(tracker, 1, session="one")
    assert not ask(tracker, 1, session="two")
    assert ask(tracker, 1, session="one")


def test_t1_sessions_that_nobody_returns_to_are_let_go(tracker: ToolCallTracker, clock: Clock) -> None:
    for number in range(1000):
        ask(tracker, number, session=f"s{number}")
        clock.time += 1
    assert tracker.get_stats()["total_sessions"] <= 301


def test_t1_threads(clock: Clock) -> None:
    tracker = ToolCallTracker(max_history_per_session=10, clock=clock)
    failures: list[BaseException] = []

    def work(session: str) -> None:
        try:
            for number in range(300):
                result = tracker.call(session, "webFetch", {"url": f"u{number % 12}"}, lambda n=number: n % 12)  # type: ignore[misc]
                assert result.result == number % 12
                tracker.get_stats()
                if number % 50 == 0:
                    tracker.clear_session(session)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(f"s{index % 3}",)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of a summer there, four hours behind UTC."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(
    ("hour", "said"), [(4, "12:05:09 AM"), (13, "9:05:09 AM"), (16, "12:05:09 PM"), (27, "11:05:09 PM")]
)
def test_t2_the_earlier_result_comes_with_a_note(clock: Clock, tracker: ToolCallTracker, hour: int, said: str) -> None:
    clock.time = 1_782_864_000.0 + hour * 3600 + 5 * 60 + 9
    tool = Tool()
    first = tracker.call("s", "webFetch", {"url": "u"}, tool)
    clock.time += 60
    again = tracker.call("s", "webFetch", {"url": "u"}, tool)
    assert (first.result, first.cached, first.note) == (1, False, "")
    assert (again.result, again.cached, again.note) == (1, True, f"[Cached result from {said}]")
    assert tool.calls == 1


def test_t4_a_rule_is_called_with_the_current_and_the_previous_call_outside_the_lock(tracker: ToolCallTracker) -> None:
    seen = []

    def rule(current: Any, previous: Any) -> bool:
        # Within the lock this would wait for ever.
        seen.append((current["url"], previous["url"], tracker.get_stats()["total_calls"]))
        return False

    tracker.add_rule("webFetch", rule)
    ask(tracker, 1)
    ask(tracker, 2)
    assert seen == [("u2", "u1", 1)]


def test_t2_what_cannot_be_copied_or_compared_is_called_and_not_remembered(tracker: ToolCallTracker) -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise TypeError("not to be compared")

    tool = Tool()
    read = tracker.wrap(lambda filePath: tool(), tool="readFile")
    for argument in (threading.Lock, Odd):
        assert read(argument()) + 1 == read(argument())


def test_t3_failed_calls_are_not_remembered(tracker: ToolCallTracker) -> None:
    def fail() -> int:
        raise OSError("no")

    for _ in range(2):
        with pytest.raises(OSError, match="no"):
            tracker.call("s", "webFetch", {"url": "u"}, fail)

    @dataclass
    class Answer:
        isError: bool = True

    for failed in ({"success": False}, {"error": "no"}, {"isError": True}, {"is_error": True}, Answer()):
        assert not tracker.call("s", "webFetch", {"url": "u"}, lambda failed=failed: failed).cached  # type: ignore[misc]
    assert not tracker.call("s", "webFetch", {"url": "u"}, lambda: {"success": True, "error": None}).cached
    assert tracker.call("s", "webFetch", {"url": "u"}, dict).cached


def test_what_the_caller_changes_afterwards_is_not_what_was_asked(tracker: ToolCallTracker) -> None:
    arguments = {"edits": [{"old": "a"}]}
    tracker.call("s", "multiedit", arguments, lambda: 1)
    arguments["edits"][0]["old"] = "b"
    assert not tracker.call("s", "multiedit", arguments, lambda: 2).cached
    assert tracker.call("s", "multiedit", {"edits": [{"old": "a"}]}, lambda: 3).result == 1


def test_t4_clearing(tracker: ToolCallTracker) -> None:
    for session in ("one", "two"):
        ask(tracker, 1, session=session)
    tracker.clear_session("one")
    tracker.clear_session("never seen")
    assert not ask(tracker, 1, session="one")
    assert ask(tracker, 1, session="two")
    tracker.clear_all()
    assert tracker.get_stats() == {"total_sessions": 0, "total_calls": 0, "hits": 0, "misses": 0}


def test_t4_stats(tracker: ToolCallTracker, clock: Clock) -> None:
    for number in (1, 2, 1, 1):
        ask(tracker, number)
    ask(tracker, 1, session="other")
    assert tracker.get_stats() == {"total_sessions": 2, "total_calls": 3, "hits": 2, "misses": 3}
    clock.time += 301
    assert tracker.get_stats() == {"total_sessions": 0, "total_calls": 0, "hits": 2, "misses": 3}


def test_t4_switched_off_every_call_is_made() -> None:
    tracker = ToolCallTracker(enable_duplicate_detection=False)
    assert not ask(tracker, 1)
    assert not ask(tracker, 1)
    assert tracker.get_stats()["total_calls"] == 0


def test_t4_rules_can_be_added_per_tool(tracker: ToolCallTracker) -> None:
    tracker.add_rule("issue", equal)
    assert not tracker.call("s", "issue", {"repo": "r", "owner": "o", "number": 1}, lambda: 1).cached
    assert not tracker.call("s", "issue", {"repo": "r", "owner": "o", "number": 2}, lambda: 2).cached
    assert tracker.call("s", "unknown", {"repo": "r", "owner": "o", "number": 1}, lambda: 1).cached is False
    assert tracker.call("s", "unknown", {"repo": "r", "owner": "o", "number": 2}, lambda: 2).cached is True
    tracker.add_rule("webFetch", never)
    assert not ask(tracker, 1)
    assert not ask(tracker, 1)


def test_t4_a_rule_that_fails_lets_the_call_be_made(tracker: ToolCallTracker) -> None:
    tracker.add_rule("issue", lambda a, b: bool(a["number"] == b["number"]))
    assert tracker.call("s", "issue", {"number": 1}, lambda: 1).result == 1
    assert tracker.call("s", "issue", {}, lambda: 2).result == 2


@pytest.fixture
def nobodys_tracker() -> Iterator[None]:
    set_tool_call_tracker(None)
    yield
    set_tool_call_tracker(None)


@pytest.mark.usefixtures("nobodys_tracker")
def test_t4_the_tracker_of_the_process() -> None:
    assert get_tool_call_tracker() is get_tool_call_tracker()
    mine = ToolCallTracker()
    set_tool_call_tracker(mine)
    assert get_tool_call_tracker() is mine


@pytest.mark.parametrize(
    "wrong", [{"max_history_per_session": -1}, {"max_history_per_session": True}, {"max_age_ms": math.nan}]
)
def test_t1_wrong_bounds_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        ToolCallTracker(**wrong)  # type: ignore[arg-type]


def test_a_history_of_nothing_remembers_nothing() -> None:
    tracker = ToolCallTracker(max_history_per_session=0)
    assert not ask(tracker, 1)
    assert not ask(tracker, 1)


def test_all_sessions_together_hold_so_many_bytes_and_the_quietest_goes_first() -> None:
    """A page of long issues is megabytes, and whoever opens issues decides how often one is searched."""
    tracker = ToolCallTracker(max_bytes=10_000)

    def page(session: str, number: int) -> bool:
        return tracker.call(session, "search", {"query": str(number)}, lambda: {"items": ["x" * 2_000]}).cached

    for session in "abcdef":
        page(session, 1)
    assert [session for session in "abcdef" if page(session, 1)] == []
    assert tracker.get_stats()["total_sessions"] == 4
    for number in range(10):
        page("e", number)
    assert tracker.get_stats()["total_sessions"] <= 1
    tracker.clear_session("e")
    assert not page("f", 2)
    assert page("f", 2), "what was dropped counts no more"


def test_t2_what_can_be_read_only_once_is_not_remembered() -> None:
    """Lines, of which the next caller would find none. A coroutine function is refused."""

    async def read(filePath: str) -> str:
        return "text"

    lines = ToolCallTracker().wrap(lambda filePath: (line for line in ("one", "two")), tool="readFile")
    for _ in range(2):
        assert list(lines("a.txt")) == ["one", "two"]
    with pytest.raises(TypeError, match="read is a coroutine function"):
        ToolCallTracker().wrap(read, tool="readFile")
