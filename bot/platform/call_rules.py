"""When two calls of a tool ask the same (T3). Pure."""

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
    """All that is known of a tool: when two calls are the `same`, and how long an answer holds (T7).

    `unchanged` gives what an answer depends on, a file's modification time or an ETag, for the arguments of a call:
    while it gives the same, the answer holds. Where it raises nothing is remembered. Answers of a `shared` tool never
    change, so that all sessions have them in common.
    """

    same: Rule
    unchanged: Callable[[Arguments], object] | None = None
    shared: bool = False


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


def agreeing(share: float) -> Rule:
    """Same where more than that share of all arguments match, in [0, 1), or all that identify a thing do."""

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
"""For tools that nobody has described."""


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
