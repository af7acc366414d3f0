"""T3: when two calls ask the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.call_rules import RULES, equal, generic


@pytest.mark.parametrize(
    ("tool", "a", "b", "same"),
    [
        ("readFile", {"filePath": "a", "offset": 1, "limit": 5}, {"filePath": "a", "offset": 90}, True),
        ("readFile", {"filePath": "a"}, {"filePath": "b"}, False),
        ("readFile", {}, {}, False),
        ("grep", {"pattern": "x", "path": "p", "-C": 3}, {"pattern": "x", "path": "p", "-A": 9}, True),
        ("grep", {"pattern": "x", "path": "p"}, {"pattern": "x", "path": "q"}, False),
        ("grep", {"pattern": "x", "glob": "*.py"}, {"pattern": "x"}, False),
        ("grep", {"pattern": "x", "multiline": True}, {"pattern": "x", "multiline": False}, False),
        ("grep", {"pattern": "x", "caseInsensitive": True}, {"pattern": "x"}, False),
        ("writeFile", {"filePath": "a", "content": "c"}, {"filePath": "a", "content": "c"}, True),
        ("writeFile", {"filePath": "a", "content": "c"}, {"filePath": "a", "content": "d"}, False),
        ("multiedit", {"edits": [{"old": "a", "new": "b"}]}, {"edits": [{"old": "a", "new": "b"}]}, True),
        ("multiedit", {"edits": [{"old": "a", "new": "b"}]}, {"edits": [{"old": "a", "new": "c"}]}, False),
        ("webFetch", {"url": "u", "prompt": "one"}, {"url": "u", "prompt": "two"}, True),
        ("webFetch", {"url": "u"}, {"url": "v"}, False),
        ("unifiedExec", {"cmd": "ls"}, {"cmd": "ls"}, False),
        ("writeStdin", {"id": 1}, {"id": 1}, False),
        ("closePtySession", {"id": 1}, {"id": 1}, False),
        ("listPtySessions", {}, {}, False),
    ],
)
def test_t3_the_shipped_table(tool: str, a: dict[str, Any], b: dict[str, Any], same: bool) -> None:
    assert RULES[tool](a, b) is same
    assert RULES[tool](b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ({}, {}, True),
        ({"x": 1}, {}, False),
        ({"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 2, "z": 4}, True),
        ({"x": 1, "y": 2}, {"x": 1, "y": 3}, False),
        ({"x": 1, "y": 2}, {"x": 1, "z": 2}, False),
        ({"id": 7, "a": 1, "b": 2}, {"id": 7, "a": 3, "b": 4}, True),
        ({"id": 7, "name": "n", "a": 1}, {"id": 7, "name": "m", "a": 2}, False),
        ({"id": 7, "a": 1}, {"a": 2, "b": 3}, False),
        ({"path": "p", "a": 1}, {"path": "p", "b": 2}, True),
        ({"x": None}, {}, False),
        ({"id": None, "a": 1, "b": 2}, {"id": None, "a": 3, "b": 4}, False),
        ({"x": 1}, {"x": True}, False),
        ({"x": [0, {"y": 1}]}, {"x": [False, {"y": 1}]}, False),
        ({"x": [1, {"y": 1}]}, {"x": [1.0, {"y": 1}]}, True),
        ({"x": {"y": 1}}, {"x": "y"}, False),
        ({"x": {"y": 1}}, {"x": ["y"]}, False),
    ],
)
def test_t3_unknown_tools(a: dict[str, Any], b: dict[str, Any], same: bool) -> None:
    assert generic(a, b) is same
    assert generic(b, a) is same


arguments = st.dictionaries(st.sampled_from(["id", "name", "path", "x", "y"]), st.integers(0, 2))


@pytest.mark.slow
@given(arguments, arguments)
def test_t3_equal_calls_are_the_same_and_sameness_has_no_direction(a: dict[str, int], b: dict[str, int]) -> None:
    assert generic(a, dict(a))
    assert generic(a, b) is generic(b, a)
    assert equal(a, b) is (a == b)
