"""Calculates a repository's threshold from people's feedback. The decision is pure; `recalibrate` reads the store.

Only verdicts on what people were shown count. Marks do not: people mark what they found alone, and nobody marks what
nobody found. A threshold that followed marks would end at the few that people mark (P1).

The threshold leaves its default only for good reason, which lies in the interval between the two:

* it rises if surely less than RIGHT of the comments in the interval were right;
* it falls if surely more than RIGHT of what was held back there would have been right, as people said who saw it all
the same, on the dashboard for example.

"Surely" is the bound of Wilson's interval (1927) at 95 %. A move also needs ENOUGH weight on its own side, AT_LEAST of
it in its last step, and more there than against it, so the threshold moves no further than the feedback goes. One more
verdict against the comments never lowers the threshold, and one more for them never raises it: each bound moves one way
with each verdict. tests/calibration holds this as a property.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.conversation.config.schema import MIN_CONFIDENCE, RepoConfig
from bot.domain.decisions import Decision, Evidence
from bot.domain.feedback import FeedbackKind, KeptCalibration
from bot.domain.likelihood import LIKELY, POSSIBLY, wilson
from bot.quality.feedback import Example, by_issue, examples
from bot.storage import Store

MARKS = frozenset({FeedbackKind.CLOSED, FeedbackKind.OF})
"""Verdicts if a comment names the pair, else marks."""


@dataclass(frozen=True, slots=True)
class Point:
    """One issue's comment, posted or not: `right` or wrong for every threshold up to `probability`. `weight` is in (0,
    1].
    """

    probability: float
    right: bool
    weight: float


def points(decisions: Iterable[Decision], made: Iterable[Example]) -> list[Point]:
    """Judge the comments on each issue by the examples, including shadow and silent ones.

    A comment is right if it names an issue that somebody calls the same, up to the threshold at which it is named. It
    is wrong if every issue that it names is said to be another. Of several people who say the same, the highest weight
    counts, so repetition gains nothing. Decisions with the same first candidate are one comment, the earliest.
    """
    looks: dict[int, dict[int, Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        if named := _named(decision):
            looks.setdefault(decision.number, {}).setdefault(named[0].number, decision)
    found: list[Point] = []
    for number, said in by_issue(made).items():
        comments = list(looks.get(number, {}).values())
        found += _right_points(comments, said)
        for comment in comments:
            found += _wrong_points(comment, said)
    return found


def _named(decision: Decision) -> tuple[Evidence, ...]:
    """The candidates that the comment names; for a silent one, all that it could have named."""
    return decision.shown or tuple(one for one in decision.evidence if one.own)


def _right_points(comments: Sequence[Decision], made: Sequence[Example]) -> Iterator[Point]:
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


def _wrong_points(comment: Decision, made: Sequence[Example]) -> Iterator[Point]:
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

STEP = 0.05
STEPS = tuple(step / 20 for step in range(2, 13))
"""The thresholds to try, .10 to .60, STEP apart."""

WINDOW = 365 * 86_400.0
"""Seconds for which feedback counts."""


class Move(StrEnum):
    """How the threshold moves."""

    STAYS = "stays"
    RISES = "rises"
    FALLS = "falls"


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The threshold, and the weights of `right` and `wrong` comments between the default and it.

    If it stays, the weights are of all feedback.
    """

    threshold: float
    move: Move
    right: float
    wrong: float


def calibrate(points: Sequence[Point], usual: float) -> CalibrationResult:
    """The threshold for a repository whose default is `usual`, from all points that count."""
    for threshold in reversed([step for step in STEPS if usual < step <= HIGHEST]):
        right, wrong = _between(points, usual, threshold)
        last = _between(points, max(usual, threshold - STEP), threshold)
        if _speaks(wrong, right) and _leads(last[1], last[0]):
            return CalibrationResult(threshold, Move.RISES, right, wrong)
    for threshold in (step for step in STEPS if LOWEST <= step < usual):
        right, wrong = _between(points, threshold, usual)
        last = _between(points, threshold, min(usual, threshold + STEP))
        if _speaks(right, wrong) and _leads(*last):
            return CalibrationResult(threshold, Move.FALLS, right, wrong)
    right, wrong = _between(points, 0.0, 1.1)
    return CalibrationResult(usual, Move.STAYS, right, wrong)


def _speaks(weight: float, against: float) -> bool:
    """Whether there is enough weight for a move, and surely more of it than RIGHT."""
    return weight >= ENOUGH and wilson(weight / (weight + against), weight + against)[0] > RIGHT


def _leads(weight: float, against: float) -> bool:
    return weight >= AT_LEAST and weight > against


def _between(points: Sequence[Point], low: float, high: float) -> tuple[float, float]:
    """The weights of right and wrong points in [low, high)."""
    inside = [one for one in points if low <= one.probability < high]
    return sum(one.weight for one in inside if one.right), sum(one.weight for one in inside if not one.right)


class ThresholdOrigin(StrEnum):
    """`SETTINGS`: the repository's file sets it. `FEEDBACK`: feedback has moved it. `USUAL`: it is the default."""

    SETTINGS = "settings"
    FEEDBACK = "feedback"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The threshold from which on candidates are shown, and the weights of the feedback that moved it."""

    value: float
    origin: ThresholdOrigin
    right: float = 0.0
    wrong: float = 0.0


def threshold_in_force(config: RepoConfig, kept: KeptCalibration | None) -> Threshold:
    """The repository's file wins; with `calibrate: off` feedback moves nothing."""
    if config.min_confidence is not None:
        return Threshold(config.min_confidence, ThresholdOrigin.SETTINGS)
    if config.calibrate and kept is not None and kept.threshold is not None:
        return Threshold(kept.threshold, ThresholdOrigin.FEEDBACK, kept.right, kept.wrong)
    return Threshold(MIN_CONFIDENCE, ThresholdOrigin.USUAL)


def recalibrate(store: Store, repo_id: int, now: float) -> bool:
    """Recalculate and store the threshold; return whether it moved."""
    known = store.calibrations.get(repo_id)
    found = current_calibration(store, repo_id, now)
    if known is None and found.move is Move.STAYS and not found.right and not found.wrong:
        # There is no feedback, so there is nothing to store.
        return False
    threshold = None if found.move is Move.STAYS else found.threshold
    return store.calibrations.move(repo_id, known, threshold, found.right, found.wrong, now)


def current_calibration(store: Store, repo_id: int, now: float) -> CalibrationResult:
    """The threshold by the present feedback, whatever the settings say."""
    made = current_feedback(store, repo_id, now)
    decisions = store.decisions.of_issues(repo_id, {one.number for one in made})
    return calibrate(points(decisions, made), MIN_CONFIDENCE)


def current_feedback(store: Store, repo_id: int, now: float) -> list[Example]:
    """The feedback that counts: of the last year, and since the threshold was last reset."""
    known = store.calibrations.get(repo_id)
    return feedback_since(store, repo_id, max(known.since if known else 0.0, now - WINDOW))


def feedback_since(store: Store, repo_id: int, since: float, about: Container[int] | None = None) -> list[Example]:
    """The feedback since then as labelled pairs, earliest first; with `about`, only pairs with one of these issues."""
    signals, verdicts = store.signals.since(repo_id, since), store.verdicts.since(repo_id, since)
    if about is not None:
        signals = [one for one in signals if one.number in about or one.other in about]
        verdicts = [one for one in verdicts if one.number in about or one.other in about]
    # Either issue of a pair may be the one on which the other was suggested.
    numbers = {number for one in signals for number in (one.number, one.other)}
    numbers |= {number for one in verdicts for number in (one.number, one.other)}
    return examples(store.decisions.of_issues(repo_id, numbers), signals, verdicts, since)
