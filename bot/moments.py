"""Times that come from others, with a zone or without."""

from __future__ import annotations

from datetime import UTC, datetime


def aware(moment: datetime) -> datetime:
    """The time with its zone; one without is in UTC. Only times that all have zones can be compared."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
