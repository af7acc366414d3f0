"""What GitHub does not offer in a place: it is not asked for again before a day is over."""

from __future__ import annotations

from collections.abc import Callable

DAY = 86_400.0


class SwitchedOff:
    """Features by place, for one process. Thread safe: what changes is one assignment.

    Each of several workers learns for itself, for one request a day: to share it would cost more than that (T6).
    `clock` counts seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def __contains__(self, feature: str) -> bool:
        return self._clock() < self._until.get(feature, float("-inf"))

    def add(self, feature: str) -> None:
        """Leave it alone for a day."""
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now} | {feature: now + DAY}
