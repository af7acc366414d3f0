"""Units of a budget that a process has paid for ahead, so that not each request costs a write to the database. Pure."""

from __future__ import annotations

FIRST, MOST = 3, 40
"""What is bought at once: little where little is needed, twice as much each time it was used up while it was good."""

GOOD_FOR = 5.0
"""Seconds. What was paid counts from then on although it is used later, by so much at most: who counts for all
processes lets payments count for so much longer."""


class Purse:
    """What is left of the last purchase. Not thread safe; time is passed in."""

    def __init__(self) -> None:
        self._left = 0
        self._until = float("-inf")
        self._size = FIRST

    def wanting(self, now: float, amount: int) -> int:
        """How much to buy before `amount` can be spent; 0 where there is enough."""
        if now >= self._until:
            self._size = FIRST
        elif self._left >= amount:
            return 0
        return max(amount, self._size)

    def fill(self, now: float, bought: int) -> None:
        """Note a purchase, beside which nothing counts that was left: it is older, and a handful at most."""
        self._left, self._until = bought, now + GOOD_FOR
        self._size = min(MOST, 2 * self._size)

    def spend(self, amount: int) -> None:
        """Note a request that is about to be sent."""
        self._left -= amount
