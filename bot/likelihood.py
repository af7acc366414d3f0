"""How likely it is that two issues report the same thing, in words (P4). Nothing else decides that. Pure.

A probability is everywhere the one that a careful reader of both texts calls them the same report (P1).
"""

from __future__ import annotations

from enum import StrEnum

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
