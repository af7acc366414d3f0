"""Events as JSON text and back, for the queue. Old workers must be able to read what a newer web process wrote."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter

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
    values = {"kind": _NAMES[type(event)], **_values(event)}
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False, default=_values)


def _values(one: Any) -> dict[str, Any]:
    """The fields of a dataclass, as they are: `asdict` copies all that is below them."""
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def from_json(text: str) -> Event:
    """Read what `to_json` wrote; fields of a later version that this one does not know are left aside."""
    values = json.loads(text)
    event: Event = _reader(values.pop("kind")).validate_python(values)
    return event


@cache
def _reader(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(_KINDS[kind])
