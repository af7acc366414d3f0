"""The simulated GitHub's clock: real time plus an offset that a test can move."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

# What is reckoned from the moment on, such as when a token ends, must be in the calendar as well.
_MARGIN = timedelta(days=366)


class Clock:
    """Answers the present moment; `advance` moves it without waiting.

    With `start` the clock stands still at that moment until it is advanced; without, it runs with the machine's.
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
        """Move the clock forward by so many seconds (back, if negative).

        Raises ValueError or OverflowError for a moment beyond the calendar, and stays where it was.
        """
        with self._lock:
            offset = self._offset + timedelta(seconds=seconds)
            for margin in (_MARGIN, -_MARGIN):
                self._at(offset + margin)
            self._offset = offset

    def _at(self, offset: timedelta) -> datetime:
        return (self._start or datetime.now(UTC)) + offset


def iso(moment: datetime) -> str:
    """GitHub's way to write a time: UTC, whole seconds, `Z` at the end."""
    # Not `strftime`, which writes the years before 1000 with fewer digits.
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    """`iso`, with null for what has not happened."""
    return iso(moment) if moment else None


def read_iso(text: str | None) -> datetime | None:
    """A time that a client gives; nonsense counts as none."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
