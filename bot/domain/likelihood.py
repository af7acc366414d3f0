"""How likely two issues report the same thing, in words (P4); only this module chooses the word. Pure.

A probability is that of a careful reader of both texts calling them the same report (P1).
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

LIKELY = 0.6
"""Default of the setting `likely`: from here on an issue was probably reported before."""

VERY_LIKELY = 0.85
"""From here on readers hardly ever disagree."""

POSSIBLY = 0.1
"""Candidates below this are shown only because somebody asked for the best there is."""

HIGHEST = 0.98
"""The highest probability: two careful readers agree on 98 of 100 pairs."""


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
        """The heading for it."""
        return Tier.LIKELY if self in (Likelihood.VERY_LIKELY, Likelihood.LIKELY) else Tier.RELATED


def likelihood(probability: float, likely: float = LIKELY) -> Likelihood:
    """The word for a probability in [0, 1]; `likely` is the repository's setting."""
    if probability >= likely:
        return Likelihood.VERY_LIKELY if probability >= VERY_LIKELY else Likelihood.LIKELY
    return Likelihood.POSSIBLY if probability >= POSSIBLY else Likelihood.UNLIKELY


LEVEL = 0.95
"""The confidence level of intervals."""

Interval = tuple[float, float]

# Standard deviations on both sides of the mean that hold LEVEL of a normal distribution.
_Z = 1.96


def wilson(share: float, count: float) -> Interval:
    """The confidence interval of a share of `count` (Wilson 1927) at LEVEL; sound for few, none and all of them.

    `count` may be a sum of weights. One more success lowers neither bound, one more failure raises neither.
    """
    if not count:
        return 0.0, 1.0
    middle = share + _Z * _Z / (2 * count)
    spread = _Z * sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    scale = 1 + _Z * _Z / count
    # Rounding must not put the share outside.
    return min(share, max(0.0, (middle - spread) / scale)), max(share, min(1.0, (middle + spread) / scale))
