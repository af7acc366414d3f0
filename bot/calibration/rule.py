"""Where the bar should be, from what people said. Pure.

Only people's verdicts count: what they say of something that they were shown. Marks are another matter. Who closes an
issue as a duplicate of what the bot held back has found that without it, and who finds nothing says nothing; so marks
tell of what is there and never of what is not, and a bar that follows them would end at what people mark (P1).

The bar moves away from the usual one only for good reason, and the reason is always in the stretch between the two:

* it rises to a threshold where of the comments between the usual bar and that threshold surely fewer than RIGHT are
  right: nearly all that is lost by it was wrong;
* it falls to a threshold where of what was not said between the two surely more than RIGHT would have been right, by
  the word of people who were shown it all the same, as on the dashboard.

"Surely" is the bound of Wilson's interval (1927) at 95 %. Both ask for ENOUGH weight on the side that speaks for them,
AT_LEAST so much of it in the last step, and more there than against it, so that nothing moves further than what was
said. One word more against the comments can never lower the bar, nor one more for them raise it: each bound moves one
way with each word, and a gate counts only the words of its own side. tests/calibration holds that as a property.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.decisions import Decision, Evidence
from bot.feedback.examples import Example, by_issue
from bot.judgements import Kind
from bot.likelihood import LIKELY, POSSIBLY, wilson

MARKS = frozenset({Kind.CLOSED, Kind.OF})
"""What is a verdict on a comment that names the pair, and else a mark."""


@dataclass(frozen=True, slots=True)
class Point:
    """One issue's comment (or what would have been one): `right` or wrong from a bar of `probability` downwards.

    `weight` is in (0, 1].
    """

    probability: float
    right: bool
    weight: float


def points(decisions: Iterable[Decision], made: Iterable[Example]) -> list[Point]:
    """What the examples say of the comments on each issue, those in shadow and the silent ones too.

    A comment is right where it names an issue that somebody says is the same, up to the bar at which that one is named;
    it is wrong where each issue that it names is said to be another one. Several who say the same count as the one of
    them who counts most, so that nobody gains by repetition. Looks with the same likeliest candidate are one comment:
    the first of them, which people have seen first. Where `not` has brought another one up, that is another comment.
    """
    looks: dict[int, dict[int, Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        if named := _named(decision):
            looks.setdefault(decision.number, {}).setdefault(named[0].number, decision)
    found: list[Point] = []
    for number, said in by_issue(made).items():
        comments = list(looks.get(number, {}).values())
        found += _for(comments, said)
        for comment in comments:
            found += _against(comment, said)
    return found


def _named(decision: Decision) -> tuple[Evidence, ...]:
    """What the comment names; for a silent one all that it could have named."""
    return decision.shown or tuple(one for one in decision.evidence if one.own)


def _for(comments: Sequence[Decision], made: Sequence[Example]) -> Iterator[Point]:
    """The weight of what is right from each bar downwards: a lower one can only add to it."""
    agreed = [
        (known.probability, one.weight)
        for one in made
        if one.same and (known := next((it for comment in comments if (it := comment.about(one.other))), None))
        if known.shown or one.kind not in MARKS
    ]
    counted = 0.0
    for probability, weight in sorted(agreed, reverse=True):
        if weight > counted:
            yield Point(probability, right=True, weight=weight - counted)
            counted = weight


def _against(comment: Decision, made: Sequence[Example]) -> Iterator[Point]:
    """The weight of what is wrong up to the bar at which the first of it is named."""
    named = _named(comment)
    if weight := _rejected(named, made):
        yield Point(named[0].probability, right=False, weight=weight)


def _rejected(named: Sequence[Evidence], made: Sequence[Example]) -> float:
    """By how much weight all that is named is said to be something else; 0 where something is not."""
    return min(
        max((one.weight for one in made if not one.same and candidate.is_about(one.other)), default=0.0)
        for candidate in named
    )


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
