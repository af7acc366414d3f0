"""Where the bar should be, from what people said. Pure.

The bar moves away from the usual one only for good reason, and the reason is always in the stretch between the two:

* it rises to a threshold where of the comments between the usual bar and that threshold surely fewer than RIGHT are
  right: nearly all that is lost by it was wrong;
* it falls to a threshold where of what was not said between the two surely more than RIGHT would have been right, by
  the word of people who were shown it all the same, as on the dashboard.

Marks move nothing: they are incomplete, and the bar would end where people mark (`points.py`).

"Surely" is the bound of Wilson's interval (1927) at 95 %. Both ask for ENOUGH weight on the side that speaks for them,
AT_LEAST so much of it in the last step, and more there than against it, so that nothing moves further than what was
said. One word more against the comments can never lower the bar, nor one more for them raise it: each bound moves one
way with each word, and a gate counts only the words of its own side. tests/calibration holds that as a property.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.calibration.points import Point
from bot.likelihood import LIKELY, POSSIBLY
from bot.wilson import wilson

LOWEST, HIGHEST = POSSIBLY, LIKELY
"""The bar never goes beyond these by itself: silence in all but likely cases, or naming what is not even possibly the
same, is for people to choose."""

ENOUGH = 6.0
"""Weight on one side: six comments about which people with triage say the same, or twelve of which only authors do."""

AT_LEAST = 2.0
"""Weight on that side in the last step towards the new bar."""

RIGHT = 0.5
"""At least every second comment about which people say something shall be right."""

STEPS = tuple(step / 20 for step in range(2, 13))
"""The thresholds that are tried, .10 to .60, each STEP above the one before."""
STEP = 0.05

WINDOW = 365 * 86_400.0
"""Seconds for which what was said counts."""


class Move(StrEnum):
    """What becomes of the bar."""

    STAYS = "stays"
    RISES = "rises"
    FALLS = "falls"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The bar and why: the weight of what was `right` and `wrong` between the usual bar and this one.

    Where it stays these are of everything that was said.
    """

    bar: float
    move: Move
    right: float
    wrong: float


def calibrate(points: Sequence[Point], usual: float) -> Calibration:
    """The bar for a repository whose bar is usually `usual`, from all points that count."""
    for bar in sorted((step for step in STEPS if usual < step <= HIGHEST), reverse=True):
        right, wrong = _between(points, usual, bar)
        last = _between(points, max(usual, bar - STEP), bar)
        if _speaks(wrong, right) and _leads(last[1], last[0]):
            return Calibration(bar, Move.RISES, right, wrong)
    for bar in sorted(step for step in STEPS if LOWEST <= step < usual):
        right, wrong = _between(points, bar, usual)
        last = _between(points, bar, min(usual, bar + STEP))
        if _speaks(right, wrong) and _leads(*last):
            return Calibration(bar, Move.FALLS, right, wrong)
    right, wrong = _between(points, 0.0, 1.1)
    return Calibration(usual, Move.STAYS, right, wrong)


def _speaks(weight: float, against: float) -> bool:
    """Whether there is enough for a move, and surely more than half of everything is."""
    return weight >= ENOUGH and wilson(weight / (weight + against), weight + against)[0] > RIGHT


def _leads(weight: float, against: float) -> bool:
    return weight >= AT_LEAST and weight > against


def _between(points: Sequence[Point], low: float, high: float) -> tuple[float, float]:
    """The weights of right and wrong ones in [low, high)."""
    inside = [one for one in points if low <= one.probability < high]
    return sum(one.weight for one in inside if one.right), sum(one.weight for one in inside if not one.right)
