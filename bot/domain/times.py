"""Times that come from others, with a zone or without, and times for others."""

from __future__ import annotations

from datetime import UTC, datetime


def aware(moment: datetime) -> datetime:
    """The time with its zone; one without is in UTC. Only times that all have zones can be compared."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_moment(moment: datetime | str) -> datetime:
    """A time as ISO 8601 writes it, as JSON holds it, or one that is read already, with its zone.

    Raises ValueError with the text where it is not a time.
    """
    if isinstance(moment, datetime):
        return aware(moment)
    try:
        return aware(datetime.fromisoformat(moment))
    except ValueError as error:
        raise ValueError(f"{moment!r} is not a time; write it like 2026-01-31T12:00:00Z") from error


def moment_or_none(moment: object) -> datetime | None:
    """The time, None for what is none that `read_moment` knows: others' dates come in many forms."""
    try:
        return read_moment(moment) if isinstance(moment, datetime | str) else None
    except ValueError:
        return None


def write_moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 writes them, in UTC: how all JSON for people's programs gives a time."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
