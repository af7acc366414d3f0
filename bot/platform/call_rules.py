"""Rules that say when two calls of a tool are the same question (T3). Pure."""

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
    """When two calls of a tool are the `same`, and how long a result stays valid (T7).

    `unchanged` returns what the result depends on (a file's modification time, an ETag) for the arguments of a call; a
    cached result is valid while that stays equal. If it raises, nothing is cached. All sessions share the results of a
    `shared` tool, which never change.
    """

    same: Rule
    unchanged: Callable[[Arguments], object] | None = None
    shared: bool = False


def fields(required: str, *others: str) -> Rule:
    """Same if both calls have an equal `required` argument, and the `others` are equal or absent in both."""

    def rule(a: Arguments, b: Arguments) -> bool:
        return required in a and all(_equal(a, b, name) for name in (required, *others))

    return rule


def equal(a: Arguments, b: Arguments) -> bool:
    """All arguments are equal. For tools that read GitHub, since two issues differ in one argument only (T5)."""
    return _same(dict(a), dict(b))


def never(_a: Arguments, _b: Arguments) -> bool:
    """No two calls are the same: the tool has effects, or reads what changes."""
    return False


def agreeing(share: float) -> Rule:
    """Same if more than this share of the arguments, in [0, 1), match, or all those that identify a thing."""

    def rule(a: Arguments, b: Arguments) -> bool:
        names = set(a) | set(b)
        if not names:
            return True
        # Null identifies nothing: all things without a name would be one.
        identifying = [name for name in _IDENTIFYING if (a.get(name), b.get(name)) != (None, None)]
        if identifying and all(_equal(a, b, name) for name in identifying):
            return True
        return sum(_equal(a, b, name) for name in names) > share * len(names)

    return rule


generic = agreeing(0.5)
"""For tools without a rule of their own."""


def _equal(a: Arguments, b: Arguments, name: str) -> bool:
    return _same(a.get(name, _ABSENT), b.get(name, _ABSENT))


def _same(one: Any, other: Any) -> bool:
    """Equality as JSON has it, at any depth: `true` is not 1, as it is to Python."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


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
