"""Staying below GitHub's limits by asking before each request whether it is time.

Limits belong to an installation, so one pacer is shared by all threads that act for it. Each process has its own: what
several have spent together they learn from GitHub's answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from bot.github.limits.answers import Limit
from bot.github.limits.costs import CONTENT, GRAPHQL_POINTS, HYBRID, POINTS, SEARCH, Cost
from bot.github.limits.windows import Quota, Window

# Requests are counted where they arrive, not where they leave: our minutes are a second longer than GitHub's.
_MINUTE = 61.0
_HOUR = 3601.0

LIMITS: Mapping[str, Sequence[tuple[int, float]]] = {
    SEARCH: ((30, _MINUTE),),
    HYBRID: ((10, _MINUTE),),
    CONTENT: ((80, _MINUTE), (500, _HOUR)),
    POINTS: ((900, _MINUTE),),
    GRAPHQL_POINTS: ((2000, _MINUTE),),
}
"""Units and seconds for each currency of `costs`, from the two pages named there."""


class Pacer:
    """Says when a request may be sent. `clock` counts seconds and never goes back (`time.monotonic`). Thread safe."""

    def __init__(self, clock: Callable[[], float], limits: Mapping[str, Sequence[tuple[int, float]]] = LIMITS) -> None:
        self._clock = clock
        self._windows = {name: [Window(*limit) for limit in group] for name, group in limits.items()}
        self._quotas: dict[str, Quota] = {}
        self._blocked: dict[str | None, float] = {}
        self._strikes = 0
        self._lock = threading.Lock()

    def take(self, cost: Cost) -> float:
        """Pay for one request and return 0, or pay nothing and return the seconds after which to ask again.

        Nothing is reserved while waiting, so that a refusal in between holds for those who wait, too.
        """
        with self._lock:
            now = self._clock()
            delay = self._wait(cost, now)
            if delay > 0:
                return delay
            for name, amount in cost.amounts.items():
                for window in self._windows.get(name, ()):
                    window.spend(now, amount)
                if quota := self._quotas.get(name):
                    quota.spend(amount)
            return 0.0

    def delay(self, cost: Cost) -> float:
        """What `take` would return, without paying."""
        with self._lock:
            return max(0.0, self._wait(cost, self._clock()))

    def learn(self, resource: str, remaining: int, seconds: float) -> None:
        """GitHub said that so many requests of a resource are left for so many seconds."""
        with self._lock:
            self._quotas.setdefault(resource, Quota()).learn(remaining, self._clock() + seconds)

    def refused(self, limit: Limit) -> None:
        """GitHub answered with a limit: send nothing that it covers until its time is over.

        A shorter pause never shortens a longer one; refusals during a pause belong to its strike.
        """
        with self._lock:
            if not limit.told and not self._paused():
                self._strikes += 1
            until = self._clock() + limit.after
            self._blocked[limit.resource] = max(until, self._blocked.get(limit.resource, until))

    def strikes(self) -> int:
        """How many refusals that named no time came before the present one, without a success between."""
        with self._lock:
            return max(self._strikes - 1, 0) if self._paused() else self._strikes

    def succeeded(self) -> None:
        """A request went through: refusals that name no time start from the shortest pause again.

        What was under way when a pause began says nothing about the time after it.
        """
        with self._lock:
            if not self._paused():
                self._strikes = 0

    def _paused(self) -> bool:
        return self._blocked.get(None, float("-inf")) > self._clock()

    def _wait(self, cost: Cost, now: float) -> float:
        return max(
            self._blocked.get(None, now) - now,
            self._blocked.get(cost.resource, now) - now,
            *(self._delay(name, amount, now) for name, amount in cost.amounts.items()),
        )

    def _delay(self, name: str, amount: int, now: float) -> float:
        delays = [window.delay(now, amount) for window in self._windows.get(name, ())]
        if quota := self._quotas.get(name):
            delays.append(quota.delay(now, amount))
        return max(delays, default=0.0)
