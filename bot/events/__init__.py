"""Webhook payloads as narrow frozen events. The rest of the program sees only these."""

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
    from_json,
    full_name,
    to_json,
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
