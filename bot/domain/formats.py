"""A number with what it counts, in English: for logs and terminals. What stands on GitHub has
`bot/conversation/messages/`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar


def counted(number: int, what: str, several: str = "") -> str:
    """`1 issue`, `1,234 issues`; `several` where that takes more than an s."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """All items in their order, `size` (1 at least) together; fewer in the last part."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def with_zone(moment: datetime) -> datetime:
    """The time with its zone; one without is in UTC. Only times that all have zones can be compared."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_time(moment: datetime | str) -> datetime:
    """A time as ISO 8601 writes it, as JSON holds it, or one that is read already, with its zone.

    Raises ValueError with the text where it is not a time.
    """
    if isinstance(moment, datetime):
        return with_zone(moment)
    try:
        return with_zone(datetime.fromisoformat(moment))
    except ValueError as error:
        raise ValueError(f"{moment!r} is not a time; write it like 2026-01-31T12:00:00Z") from error


def parse_time_or_none(moment: object) -> datetime | None:
    """The time, None for what is none that `parse_time` knows: others' dates come in many forms."""
    try:
        return parse_time(moment) if isinstance(moment, datetime | str) else None
    except ValueError:
        return None


def format_time(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 writes them, in UTC: how all JSON for people's programs gives a time."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
