"""When two calls of a tool ask the same (T3). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Arguments = Mapping[str, Any]
Rule = Callable[[Arguments, Arguments], bool]

_IDENTIFYING = ("id", "name", "path")
_ABSENT = object()


def fields(required: str, *others: str) -> Rule:
    """Same where `required` is given and equal on both sides and the `others` are equal or absent on both."""

    def rule(a: Arguments, b: Arguments) -> bool:
        return required in a and all(_equal(a, b, name) for name in (required, *others))

    return rule


def equal(a: Arguments, b: Arguments) -> bool:
    """All arguments are equal. Right for whatever reads GitHub: two issues differ in one argument only (T5)."""
    return _same(dict(a), dict(b))


def never(_a: Arguments, _b: Arguments) -> bool:
    """Each call counts: it does something, or looks at what changes."""
    return False


def generic(a: Arguments, b: Arguments) -> bool:
    """For tools that nobody has described: more than half of all arguments match, or all that identify a thing do."""
    names = set(a) | set(b)
    if not names:
        return True
    # Null identifies nothing: all things without a name would be one.
    identifying = [name for name in _IDENTIFYING if (a.get(name), b.get(name)) != (None, None)]
    if identifying and all(_equal(a, b, name) for name in identifying):
        return True
    return 2 * sum(_equal(a, b, name) for name in names) > len(names)


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
"""The shipped table; a tracker starts with it, and with `generic` for every other tool."""
