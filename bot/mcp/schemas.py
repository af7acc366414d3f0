"""The schemas that clients are shown, in as few words as say the same: every one of them is read by a model. Pure."""

from __future__ import annotations

from typing import Any


def arguments_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """What a tool takes: no further arguments, and what may be left out rather than null."""
    lean: dict[str, Any] = _lean(schema, schema.get("$defs", {}), defaults=True)
    return lean | {"additionalProperties": False}


def answer_schema(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a tool answers. What may be missing is missing, so that there are no defaults."""
    return schema and _lean(schema, schema.get("$defs", {}), defaults=False)


def _lean(schema: Any, parts: dict[str, Any], *, defaults: bool) -> Any:
    """A part of a schema, with the `parts` that it names in their places: each stands in one, none in itself."""
    if isinstance(schema, list):
        return [_lean(one, parts, defaults=defaults) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _lean(parts[schema["$ref"].rpartition("/")[2]], parts, defaults=defaults)
    lean = {
        name: _lean(value, parts, defaults=defaults)
        for name, value in schema.items()
        if not _says_nothing(name, value, schema, defaults)
    }
    kinds = [kind for kind in lean.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del lean["anyOf"]
        return kinds[0] | lean
    return lean


def _says_nothing(name: str, value: Any, schema: dict[str, Any], defaults: bool) -> bool:
    match name:
        case "$defs":
            return True
        case "title":
            # The name once more. A property of that name has a schema.
            return isinstance(value, str)
        case "description":
            # Of a class: its docstring, for whoever reads the code.
            return isinstance(value, str) and "properties" in schema
        case "default":
            return not isinstance(value, dict) and (value is None or not defaults)
        case "additionalProperties":
            return value is True
    return False
