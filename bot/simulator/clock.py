"""The simulated GitHub's clock: real time or a fixed start, plus an offset that a test can move."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

# The clock stays this far from both ends of the calendar, so that nearby times, such as a token's end, are in it, too.
_MARGIN = timedelta(days=366)


class Clock:
    """Tells the time; `advance` moves the clock without waiting.

    With `start`, the clock stands still until it is advanced. Otherwise it runs with the machine's clock.
    """

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start.astimezone(UTC) if start else None
        self._offset = timedelta(0)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The simulated moment, in UTC with microseconds."""
        with self._lock:
            return self._at(self._offset)

    def timestamp(self) -> float:
        """The simulated moment in seconds since 1970."""
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        """Move the clock forward by `seconds` (back, if negative).

        Raises OverflowError for a time outside the calendar or in its first or last year, and ValueError for NaN.
        """
        with self._lock:
            offset = self._offset + timedelta(seconds=seconds)
            # Raises OverflowError if the new time is too near an end of the calendar.
            _ = self._at(offset + _MARGIN), self._at(offset - _MARGIN)
            self._offset = offset

    def _at(self, offset: timedelta) -> datetime:
        return (self._start or datetime.now(UTC)) + offset


def iso(moment: datetime) -> str:
    """A time in UTC as GitHub writes it: whole seconds, `Z` at the end."""
    # `strftime` would write years before 1000 with fewer than four digits.
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    """`iso`, or None if there is no time."""
    return iso(moment) if moment else None


def read_iso(text: str | None) -> datetime | None:
    """Read a time from a client; None for nonsense. A time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
