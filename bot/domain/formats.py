"""Formats numbers and times for logs, terminals and JSON, reads times, and splits sequences into batches. Pure.

Texts on GitHub are in six languages; `bot.conversation.messages` formats those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar


def counted(number: int, what: str, several: str = "") -> str:
    """`1 issue`, `1,234 issues`. `several` is the plural if it is not `what` with an s."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split items into batches of `size` (at least 1)."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def with_zone(moment: datetime) -> datetime:
    """The time with a zone, UTC by default. Python cannot compare times with and without a zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_time(moment: datetime | str) -> datetime:
    """Read a time in ISO 8601. The result has a zone. Raises a ValueError that quotes the text if it is no time."""
    if isinstance(moment, datetime):
        return with_zone(moment)
    try:
        return with_zone(datetime.fromisoformat(moment))
    except ValueError as error:
        raise ValueError(f"{moment!r} is not a time; write it like 2026-01-31T12:00:00Z") from error


def parse_time_or_none(moment: object) -> datetime | None:
    """The time, or None if `parse_time` cannot read it."""
    try:
        return parse_time(moment) if isinstance(moment, datetime | str) else None
    except ValueError:
        return None


def format_time(seconds: float) -> str:
    """Format seconds since 1970 in ISO 8601 and UTC, for the JSON output of commands."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
