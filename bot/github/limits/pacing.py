"""Staying below GitHub's limits by asking before each request whether it is time.

Limits belong to an installation, so one pacer is shared by all threads that act for it. `Pacer` is all that the
transport knows. `SharedPacer` counts what GitHub counts by the minute for all processes together; what is left of an
hour's requests each learns from GitHub's answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bot.github.limits.answers import Limit
from bot.github.limits.costs import CONTENT, GRAPHQL_POINTS, HYBRID, POINTS, SEARCH, Cost
from bot.github.limits.purse import GOOD_FOR, Purse
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

AHEAD = (POINTS, GRAPHQL_POINTS)
"""Of these budgets each request needs some: several units are paid ahead (`purse`)."""

SHARED: Mapping[str, Sequence[tuple[int, float]]] = {
    **{name: LIMITS[name] for name in (SEARCH, HYBRID, CONTENT)},
    **{name: [(units, seconds + GOOD_FOR) for units, seconds in LIMITS[name]] for name in AHEAD},
}
"""What all processes have together. What is paid ahead may be used later, which the longer time makes up for."""


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

    `pay` takes amounts by budget and answers as `take` does; `rest` tells the others for how many seconds GitHub wants
    no request at all. Both are asked outside of the pacer's lock, since they may wait for a database; where another
    thread takes the last unit meanwhile, a request is paid twice.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        pay: Callable[[Mapping[str, int]], float],
        rest: Callable[[float], None] = lambda _: None,
    ) -> None:
        super().__init__(clock)
        self._pay = pay
        self._rest = rest
        self._purses = {name: Purse() for name in AHEAD}
        self._buying = threading.Lock()

    def take(self, cost: Cost) -> float:
        """See Pacer."""
        return self.delay(cost) or self._buy(cost.amounts) or super().take(cost)

    def refused(self, limit: Limit) -> None:
        """See Pacer."""
        super().refused(limit)
        if limit.resource is None:
            self._rest(limit.after)

    def _buy(self, amounts: Mapping[str, int]) -> float:
        with self._buying:
            now = self._clock()
            purses = {name: purse for name, purse in self._purses.items() if name in amounts}
            wanted = {name: purse.wanting(now, amounts[name]) for name, purse in purses.items()}
            owed = {name: units for name, units in {**amounts, **wanted}.items() if units}
            if delay := self._pay(owed):
                return delay
            for name, purse in purses.items():
                if wanted[name]:
                    purse.fill(now, wanted[name])
                purse.spend(amounts[name])
            return 0.0
