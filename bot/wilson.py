"""How far a share may be off because it was counted in only so many cases (Wilson 1927)."""

from __future__ import annotations

from math import sqrt

LEVEL = 0.95
"""How probable it is that an interval holds what it is about."""

Interval = tuple[float, float]

# By so many standard deviations around the mean the normal distribution holds LEVEL of all.
_Z = 1.96


def wilson(share: float, count: float) -> Interval:
    """The interval of a share of `count` (Wilson 1927), at LEVEL; sound also for few, none and all of them.

    `count` may be a sum of weights. One more that is right moves neither bound down, one more that is not neither up.
    """
    if not count:
        return 0.0, 1.0
    middle = share + _Z * _Z / (2 * count)
    spread = _Z * sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    scale = 1 + _Z * _Z / count
    # The share lies between them, which the last digits of none and of all need not say.
    return min(share, max(0.0, (middle - spread) / scale)), max(share, min(1.0, (middle + spread) / scale))
