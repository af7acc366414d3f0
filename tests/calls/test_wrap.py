"""T7: a wrapped tool stays what it is, and rules say what an answer depends on."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import pytest

from bot.platform.call_rules import ToolRule, agreeing, equal, fields
from bot.platform.call_tracker import ToolCallTracker
from tests.calls.conftest import Tool, ask


def test_t7_a_wrapped_tool_looks_and_answers_like_the_tool_itself(tracker: ToolCallTracker) -> None:
    calls: list[str] = []

    @tracker.wrap
    def fetch(url: str, depth: int = 1) -> list[str]:
        """Fetch it."""
        calls.append(url)
        return [url.upper()] * depth

    assert (fetch.__name__, fetch.__doc__) == ("fetch", "Fetch it.")  # type: ignore[attr-defined]
    assert str(inspect.signature(fetch)) == "(url: 'str', depth: 'int' = 1) -> 'list[str]'"
    assert fetch("u") == fetch("u") == fetch(url="u") == ["U"]
    assert calls == ["u"]
    assert fetch("v", 2) == ["V", "V"]
    again = fetch.call("u")
    assert (again.result, again.cached, again.note[:20]) == (["U"], True, "[Cached result from ")
    with pytest.raises(TypeError, match="url"):
        fetch(uri="u")  # type: ignore[call-arg]


def test_t7_the_session_is_said_at_each_call(tracker: ToolCallTracker) -> None:
    now = "one"
    count = tracker.wrap(Tool().__call__, session=lambda: now, tool="count")
    assert [count(), count()] == [1, 1]
    now = "two"
    assert (count(), count.call().cached) == (2, True)


def test_t7_what_a_caller_does_to_a_result_is_not_in_the_next_one(tracker: ToolCallTracker) -> None:
    own = {"lines": ["a"]}
    read = tracker.wrap(lambda filePath: own, tool="readFile")
    read("f")["lines"].append("the first caller's")
    own["lines"].append("the tool's")
    first = read("f")
    assert first["lines"] == ["a"]
    first["lines"].append("the second caller's")
    assert read("f")["lines"] == ["a"]


def test_t7_an_answer_holds_while_what_it_depends_on_is_unchanged(tracker: ToolCallTracker, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    tracker.add_rule(
        "read", ToolRule(fields("filePath"), unchanged=lambda asked: Path(asked["filePath"]).stat().st_mtime_ns)
    )

    def read(filePath: Path) -> str:
        return filePath.read_text() if filePath.exists() else "none"

    wrapped = tracker.wrap(read)
    assert (wrapped(file), wrapped.call(file).cached) == ("old", True)
    file.write_text("new")
    os.utime(file, ns=(1, 1))
    assert (wrapped(file), wrapped.call(file).cached) == ("new", True)
    file.unlink()
    assert [wrapped.call(file).cached for _ in range(2)] == [False, False], "nothing tells whether it holds"


def test_t7_what_never_changes_is_remembered_for_all_sessions(tracker: ToolCallTracker) -> None:
    tracker.add_rule("webFetch", ToolRule(equal, shared=True))
    assert [ask(tracker, 1, session=session) for session in ("one", "two")] == [False, True]
    tracker.clear_session("one")
    assert ask(tracker, 1, session="three")


def test_t7_a_rule_can_say_which_share_of_the_arguments_must_agree(tracker: ToolCallTracker) -> None:
    tracker.add_rule("look", agreeing(0.8))
    asked = dict.fromkeys("abcd", 1)
    for change, cached in (({}, False), ({"d": 2}, False), ({"d": 2}, True)):
        assert tracker.call("s", "look", asked | change, lambda: 1).cached is cached
