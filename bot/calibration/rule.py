"""Calculates a repository's threshold, the bar, from people's feedback. Pure.

Only verdicts count: what people say of something that they were shown. Marks are another matter. Somebody who closes an
issue as a duplicate of what the bot held back has found it alone, and somebody who finds nothing says nothing. So marks
show only what is there, and a threshold that follows them would end at what people mark (P1).

The threshold leaves its default only for good reason, which lies in the interval between the two:

* it rises if surely less than RIGHT of the comments in the interval were right: nearly all that it loses was wrong;
* it falls if surely more than RIGHT of what was held back in the interval would have been right, by the word of people
  who saw it all the same, as on the dashboard.

"Surely" is the bound of Wilson's interval (1927) at 95 %. A move also needs ENOUGH weight on its own side, AT_LEAST so
much of it in its last step, and more there than against it; so the threshold moves no further than the feedback goes.
One more verdict against the comments never lowers the threshold, and one more for them never raises it: each bound
moves one way with each verdict, and a gate counts only its own side. tests/calibration holds this as a property.
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
"""These are verdicts if a comment names the pair, else marks."""


@dataclass(frozen=True, slots=True)
class Point:
    """One issue's comment, posted or not: `right` or wrong for every threshold up to `probability`.

    `weight` is in (0, 1].
    """

    probability: float
    right: bool
    weight: float


def points(decisions: Iterable[Decision], made: Iterable[Example]) -> list[Point]:
    """Judge the comments on each issue by the examples, including shadow and silent ones.

    A comment is right if it names an issue that somebody calls the same, up to the threshold at which it is named. It
    is wrong if every issue that it names is said to be another. Of several people who say the same, the one with the
    highest weight counts, so that repetition gains nothing. Decisions with the same first candidate are one comment,
    the earliest; if `not` has moved another candidate up, that is another comment.
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
    """The candidates that the comment names; for a silent one, all that it could have named."""
    return decision.shown or tuple(one for one in decision.evidence if one.own)


def _for(comments: Sequence[Decision], made: Sequence[Example]) -> Iterator[Point]:
    """The weight of right comments: a lower threshold can only add to it."""
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
    """The weight by which all candidates that the comment names are rejected, if they are."""
    named = _named(comment)
    weight = min(
        max((one.weight for one in made if not one.same and candidate.is_about(one.other)), default=0.0)
        for candidate in named
    )
    if weight:
        yield Point(named[0].probability, right=False, weight=weight)


LOWEST, HIGHEST = POSSIBLY, LIKELY
"""Feedback never moves the threshold beyond these. Only people may choose silence in all but likely cases, or comments
about issues that are not even possibly the same."""

ENOUGH = 6.0
"""The least weight on one side: the verdicts of people with triage access on six comments, or of authors on twelve."""

AT_LEAST = 2.0
"""The least weight on that side in the last step towards the new threshold."""

RIGHT = 0.5
"""At least every second comment that people judge should be right."""

STEPS = tuple(step / 20 for step in range(2, 13))
"""The thresholds to try, .10 to .60, STEP apart."""
STEP = 0.05

WINDOW = 365 * 86_400.0
"""Seconds for which feedback counts."""


class Move(StrEnum):
    """How the threshold moves."""

    STAYS = "stays"
    RISES = "rises"
    FALLS = "falls"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The threshold, and the weights of `right` and `wrong` comments between the default and it.

    If it stays, the weights are of all feedback.
    """

    bar: float
    move: Move
    right: float
    wrong: float


def calibrate(points: Sequence[Point], usual: float) -> Calibration:
    """The threshold for a repository whose default is `usual`, from all points that count."""
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
    """Whether there is enough weight for a move, and surely more of it than RIGHT."""
    return weight >= ENOUGH and wilson(weight / (weight + against), weight + against)[0] > RIGHT


def _leads(weight: float, against: float) -> bool:
    return weight >= AT_LEAST and weight > against


def _between(points: Sequence[Point], low: float, high: float) -> tuple[float, float]:
    """The weights of right and wrong points in [low, high)."""
    inside = [one for one in points if low <= one.probability < high]
    return sum(one.weight for one in inside if one.right), sum(one.weight for one in inside if not one.right)
