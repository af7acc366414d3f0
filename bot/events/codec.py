"""Events as JSON text and back, for the queue. Old workers must be able to read what a newer web process wrote."""

from __future__ import annotations

import json
import types
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from bot.events.types import (
    CommentEvent,
    EvaluationEvent,
    Event,
    IndexEvent,
    InstallationEvent,
    IssueEvent,
    PushEvent,
    RepositoryEvent,
    ScanEvent,
)

_KINDS: dict[str, type[Event]] = {
    "issue": IssueEvent,
    "comment": CommentEvent,
    "installation": InstallationEvent,
    "repository": RepositoryEvent,
    "push": PushEvent,
    "index": IndexEvent,
    "scan": ScanEvent,
    "evaluation": EvaluationEvent,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(event: Event) -> str:
    """One line of JSON that `from_json` reads back as an equal event."""
    return json.dumps({"kind": _NAMES[type(event)], **asdict(event)}, separators=(",", ":"), ensure_ascii=False)


def from_json(text: str) -> Event:
    """Read what `to_json` wrote; fields of a later version that this one does not know are left aside."""
    values = json.loads(text)
    event: Event = _build(_KINDS[values.pop("kind")], values)
    return event


def _build(kind: Any, value: Any) -> Any:
    """Rebuild a value of the annotated type from its JSON form (dataclasses, optionals and tuples of them)."""
    if value is None:
        return None
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        return tuple(_build(get_args(kind)[0], item) for item in value)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(
            **{
                field.name: _build(hints[field.name], value[field.name])
                for field in fields(kind)
                if field.name in value
            }
        )
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields: they are written as text, which Python would compile anew for each event."""
    return get_type_hints(kind)
