"""Webhook payloads as narrow frozen events: everything behind the front door sees only these."""

from bot.events.codec import from_json, to_json
from bot.events.parse import MalformedPayload, parse
from bot.events.types import (
    BACKGROUND,
    REPLAY,
    CommentEvent,
    EvaluationEvent,
    Event,
    Ignored,
    IndexEvent,
    InstallationEvent,
    IssueEvent,
    PushEvent,
    RepositoryEvent,
    ScanEvent,
    full_name,
)

__all__ = [
    "BACKGROUND",
    "REPLAY",
    "CommentEvent",
    "EvaluationEvent",
    "Event",
    "Ignored",
    "IndexEvent",
    "InstallationEvent",
    "IssueEvent",
    "MalformedPayload",
    "PushEvent",
    "RepositoryEvent",
    "ScanEvent",
    "from_json",
    "full_name",
    "parse",
    "to_json",
]
