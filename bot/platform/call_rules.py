"""Rules for `call_tracker`: when two calls of a tool ask the same question (T3). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Arguments = Mapping[str, Any]
Rule = Callable[[Arguments, Arguments], bool]
"""Called with the current arguments and with those of a previous call."""

_IDENTIFYING = ("id", "name", "path")
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class ToolRule:
    """`same` says when two calls of a tool ask the same question.

    For a call's arguments, `unchanged` returns the state that the result depends on, such as a file's modification time
    or an ETag. A cached result is valid as long as `unchanged` returns an equal state (T7). If `unchanged` raises,
    nothing is cached. All sessions share the results of a `shared` tool, whose answers must never change.
    """

    same: Rule
    unchanged: Callable[[Arguments], object] | None = None
    shared: bool = False


def fields(required: str, *others: str) -> Rule:
    """Same if both calls have an equal `required` argument, and the `others` are equal or absent in both."""

    def rule(a: Arguments, b: Arguments) -> bool:
        return required in a and all(_agree_on(a, b, name) for name in (required, *others))

    return rule


def equal(a: Arguments, b: Arguments) -> bool:
    """Same if all arguments are equal."""
    return _equal_json(dict(a), dict(b))


def never(_a: Arguments, _b: Arguments) -> bool:
    """Never the same: for a tool that must run each time, because each run has an effect or may find something new."""
    return False


def agreeing(share: float) -> Rule:
    """Same if more than `share` (in [0, 1)) of the arguments match, or if all identifying arguments match."""

    def rule(a: Arguments, b: Arguments) -> bool:
        names = set(a) | set(b)
        if not names:
            return True
        # An argument that is null or absent in both calls identifies nothing.
        identifying = [name for name in _IDENTIFYING if (a.get(name), b.get(name)) != (None, None)]
        if identifying and all(_agree_on(a, b, name) for name in identifying):
            return True
        return sum(_agree_on(a, b, name) for name in names) > share * len(names)

    return rule


generic = agreeing(0.5)
"""For tools without a rule of their own."""


def _agree_on(a: Arguments, b: Arguments, name: str) -> bool:
    return _equal_json(a.get(name, _ABSENT), b.get(name, _ABSENT))


def _equal_json(left: Any, right: Any) -> bool:
    """Equality as in JSON, at any depth: `true` does not equal 1, unlike in Python."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_equal_json(value, right[key]) for key, value in left.items())
    if isinstance(left, list | tuple) and type(left) is type(right):
        return len(left) == len(right) and all(map(_equal_json, left, right))
    return bool(left == right)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "readFile": fields("filePath"),
        "grep": fields("pattern", "path", "glob", "multiline", "caseInsensitive"),
        "writeFile": fields("filePath", "content"),
        "multiedit": fields("edits"),
        "webFetch": fields("url"),
        "unifiedExec": never,
        "writeStdin": never,
        "closePtySession": never,
        "listPtySessions": never,
    }
)
"""The rules that a tracker starts with; every other tool has `generic`."""
