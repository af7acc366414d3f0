"""Events as JSON text and back, for the queue. Old workers must be able to read what a newer web process wrote."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache

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
    return json.dumps({"kind": _NAMES[type(event)], **asdict(event)}, separators=(",", ":"), ensure_ascii=False)


def from_json(text: str) -> Event:
    """Read what `to_json` wrote; fields of a later version that this one does not know are left aside."""
    values = json.loads(text)
    event: Event = _reader(values.pop("kind")).validate_python(values)
    return event


@cache
def _reader(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(_KINDS[kind])
