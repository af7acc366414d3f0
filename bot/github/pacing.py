"""Staying below GitHub's limits by asking before each request whether it is time.

Limits belong to an installation, so one pacer is shared by all threads that act for it. `Pacer` is all that the
transport knows. `SharedPacer` counts the scarce budgets for all processes together; the ample ones each counts itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bot.github.costs import CONTENT, GRAPHQL_POINTS, HYBRID, POINTS, SEARCH, Cost
from bot.github.limits import Limit
from bot.github.windows import Quota, Window

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

SHARED = {name: LIMITS[name] for name in (SEARCH, HYBRID, CONTENT)}
"""Those that two busy processes would exceed together; the others are worth no database write for each request."""


class Pacer(Protocol):
    """Says when a request may be sent. Every method is quick and thread safe."""

    def take(self, cost: Cost) -> float:
        """Pay for one request and return 0, or pay nothing and return the seconds after which to ask again."""

    def learn(self, resource: str, remaining: int, seconds: float) -> None:
        """GitHub said that so many requests of a resource are left for so many seconds."""

    def refused(self, limit: Limit) -> None:
        """GitHub answered with a limit: send nothing that it covers until its time is over."""

    def strikes(self) -> int:
        """How many refusals that named no time came before the present one, without a success between."""

    def succeeded(self) -> None:
        """A request went through: refusals that name no time start from the shortest pause again."""


class LocalPacer:
    """A pacer for the threads of one process. `clock` counts seconds and never goes back (`time.monotonic`)."""

    def __init__(self, clock: Callable[[], float], limits: Mapping[str, Sequence[tuple[int, float]]] = LIMITS) -> None:
        self._clock = clock
        self._windows = {name: [Window(*limit) for limit in group] for name, group in limits.items()}
        self._quotas: dict[str, Quota] = {}
        self._blocked: dict[str | None, float] = {}
        self._strikes = 0
        self._lock = threading.Lock()

    def take(self, cost: Cost) -> float:
        """See Pacer. Nothing is reserved while waiting, so that a refusal in between holds for those who wait, too."""
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
        """See Pacer."""
        with self._lock:
            self._quotas.setdefault(resource, Quota()).learn(remaining, self._clock() + seconds)

    def refused(self, limit: Limit) -> None:
        """See Pacer. A shorter pause never shortens a longer one; refusals during a pause belong to its strike."""
        with self._lock:
            if not limit.told and not self._paused():
                self._strikes += 1
            until = self._clock() + limit.after
            self._blocked[limit.resource] = max(until, self._blocked.get(limit.resource, until))

    def strikes(self) -> int:
        """See Pacer."""
        with self._lock:
            return max(self._strikes - 1, 0) if self._paused() else self._strikes

    def succeeded(self) -> None:
        """See Pacer. What was under way when a pause began says nothing about the time after it."""
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


class SharedPacer(LocalPacer):
    """A pacer for the threads of several processes: what `pay` counts, they have together, everything else apart.

    `pay` takes the amounts of a request, as `take` does a cost, and answers as it does. It is asked outside of the
    lock, since it may wait for a database; where another thread takes the last unit meanwhile, a request is paid twice.
    """

    def __init__(self, clock: Callable[[], float], pay: Callable[[Mapping[str, int]], float]) -> None:
        super().__init__(clock)
        self._pay = pay

    def take(self, cost: Cost) -> float:
        """See Pacer."""
        return self.delay(cost) or self._pay(cost.amounts) or super().take(cost)
