"""A budget over a sliding stretch of time, and what GitHub itself says of a budget. No clock: time is passed in."""

from __future__ import annotations

from collections import deque


class Window:
    """At most `limit` units in any stretch of `seconds`.

    A bucket that refills would let twice its size through in one of GitHub's fixed minutes; this never does.
    Not thread safe: the pacer holds its lock around it.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit = limit
        self.seconds = seconds
        self._spent: deque[tuple[float, int]] = deque()
        self._sum = 0

    def delay(self, now: float, amount: int) -> float:
        """Seconds until `amount` more units fit, 0 if they do now. `amount` is at most `limit`."""
        self._forget(now)
        excess = self._sum + amount - self.limit
        for moment, units in self._spent:
            if excess <= 0:
                break
            excess -= units
            if excess <= 0:
                return moment + self.seconds - now
        return 0.0

    def spend(self, now: float, amount: int) -> None:
        """Note that `amount` units are spent now."""
        self._spent.append((now, amount))
        self._sum += amount

    def _forget(self, now: float) -> None:
        while self._spent and self._spent[0][0] + self.seconds <= now:
            self._sum -= self._spent.popleft()[1]


class Quota:
    """What GitHub last said of a resource: so many requests are left until a moment.

    Answers overtake one another: within one period only the lowest number counts, and each request of ours is taken
    off at once rather than when its answer comes.
    """

    def __init__(self) -> None:
        self._remaining = 0
        self._until = float("-inf")

    def learn(self, remaining: int, until: float) -> None:
        """Take over what an answer said. Periods whose ends lie within two seconds are the same one, rounded."""
        if until > self._until + 2:
            self._remaining, self._until = remaining, until
        elif until >= self._until - 2:
            self._remaining = min(self._remaining, remaining)

    def delay(self, now: float, amount: int) -> float:
        """Seconds until `amount` requests are allowed, 0 if they are now or nothing is known."""
        return 0.0 if now >= self._until or self._remaining >= amount else self._until - now

    def spend(self, amount: int) -> None:
        """Note requests that are about to be sent."""
        self._remaining -= amount
