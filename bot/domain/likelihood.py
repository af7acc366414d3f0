"""How likely it is that two issues report the same thing, in words (P4). Nothing else decides that. Pure.

A probability is everywhere the one that a careful reader of both texts calls them the same report (P1).
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

LIKELY = 0.6
"""From this probability on something was probably reported before, where the settings do not say otherwise."""

VERY_LIKELY = 0.85
"""From this one on a reader is hardly ever of another opinion."""

POSSIBLY = 0.1
"""Below this one, what is shown at all is shown because somebody asked for the best there is."""

HIGHEST = 0.98
"""Nothing is likelier: two careful readers agree in 98 of 100 pairs."""


class Tier(StrEnum):
    """The two ways in which a comment names something."""

    LIKELY = "likely"
    RELATED = "related"


class Likelihood(StrEnum):
    """A probability as a word."""

    VERY_LIKELY = "very likely"
    LIKELY = "likely"
    POSSIBLY = "possibly"
    UNLIKELY = "unlikely"

    @property
    def tier(self) -> Tier:
        """What a comment says of it."""
        return Tier.LIKELY if self in (Likelihood.VERY_LIKELY, Likelihood.LIKELY) else Tier.RELATED


def likelihood(probability: float, likely: float = LIKELY) -> Likelihood:
    """The word for a probability in [0, 1]; `likely` is where the upper tier begins in the repository."""
    if probability >= likely:
        return Likelihood.VERY_LIKELY if probability >= VERY_LIKELY else Likelihood.LIKELY
    return Likelihood.POSSIBLY if probability >= POSSIBLY else Likelihood.UNLIKELY


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
