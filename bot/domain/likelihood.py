"""Turns the probability that two issues report the same thing into a word (P4); computes confidence intervals. Pure.

The probability is how likely a careful reader of both texts is to call them the same report (P1).
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

LIKELY = 0.6
"""The default of the setting `likely`: from this probability on, the bot calls a candidate likely."""

VERY_LIKELY = 0.85
"""From this probability on, careful readers hardly ever call the two issues different reports."""

POSSIBLY = 0.1
"""Candidates below this probability are called unlikely. Feedback never moves a threshold below POSSIBLY."""

HIGHEST = 0.98
"""The highest probability that the bot gives: even two careful readers agree on only 98 of 100 pairs."""


class Tier(StrEnum):
    """The two headings of a comment."""

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
        """The heading under which the comment lists candidates of this likelihood."""
        return Tier.LIKELY if self in (Likelihood.VERY_LIKELY, Likelihood.LIKELY) else Tier.RELATED


def likelihood(probability: float, likely: float = LIKELY) -> Likelihood:
    """The word for a probability in [0, 1]. `likely` is the repository's setting."""
    if probability >= likely:
        return Likelihood.VERY_LIKELY if probability >= VERY_LIKELY else Likelihood.LIKELY
    return Likelihood.POSSIBLY if probability >= POSSIBLY else Likelihood.UNLIKELY


Interval = tuple[float, float]

# 95 % of a normal distribution lies within 1.96 standard deviations of the mean.
_Z = 1.96


def wilson(share: float, count: float) -> Interval:
    """The 95 % Wilson score interval of a `share` in [0, 1] that was observed in `count` trials (Wilson 1927).

    It also suits few trials, and shares of 0 or 1. `count` may be a sum of weights. Another success never lowers a
    bound; another failure never raises a bound.
    """
    if not count:
        return 0.0, 1.0
    middle = share + _Z * _Z / (2 * count)
    spread = _Z * sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    scale = 1 + _Z * _Z / count
    # Despite rounding errors, the interval must contain the share.
    return min(share, max(0.0, (middle - spread) / scale)), max(share, min(1.0, (middle + spread) / scale))
