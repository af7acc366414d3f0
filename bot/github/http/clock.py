"""GitHub's time, learned from the `Date` of its answers: hosts with a wrong clock can sign tokens all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime


class ServerClock:
    """The host's clock, corrected by what GitHub last said. Thread safe: the correction is one assignment."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._skew: float | None = None

    @property
    def skew(self) -> float | None:
        """Seconds by which GitHub's clock is ahead of the host's, to a second; None before the first answer."""
        return self._skew

    def now(self) -> float:
        """Seconds since 1970 as GitHub counts them."""
        return self._clock() + (self._skew or 0.0)

    def observe(self, headers: Mapping[str, str]) -> None:
        """Compare with the `Date` header of an answer that came just now; without one nothing changes."""
        try:
            date = parsedate_to_datetime(headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return
        # The header is cut to whole seconds, on average half a second ago. Less than two seconds is no skew but that.
        skew = date + 0.5 - self._clock()
        self._skew = 0.0 if abs(skew) < 2 else skew
