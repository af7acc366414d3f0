"""Calculates (`calibrate`, pure) and stores (`recalibrate`) a repository's threshold, `min_confidence`, from feedback.

Only verdicts on the bot's candidates count. Marks do not count: people mark duplicates that they
found without the bot, and a duplicate that nobody found has no mark. If marks counted, the
threshold would rise until the bot named only the few pairs that people mark without its help (P1).

Verdicts move the threshold away from its default. Only comments with a probability between the default and the new
threshold count:

* the threshold rises if surely more than half of these comments were wrong;
* the threshold falls if surely more than half of these comments would have been right. The bot held these comments
  back, but people can judge their candidates elsewhere, for example on the dashboard.

"Surely" means that Wilson's 95 % interval (1927) lies wholly above one half. A comment weighs 1 if somebody with triage
access judged it, and one half if only the issue's author did. Wrong comments support a rise, right comments a fall. All
supporting comments together must weigh at least 6. The supporting comments within .05 of the new threshold must weigh
at least 2, and more than the opposing comments there. So the threshold moves no further than the feedback reaches. One
more wrong comment never lowers the threshold, and one more right comment never raises it; tests/calibration checks it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.conversation.config.schema import MIN_CONFIDENCE, RepoConfig
from bot.domain.decisions import Decision
from bot.domain.feedback import FeedbackKind, StoredCalibration
from bot.domain.likelihood import LIKELY, POSSIBLY, wilson
from bot.domain.report import Evidence
from bot.quality.feedback import Example, by_issue, examples
from bot.storage import Store

MARKS = frozenset({FeedbackKind.CLOSED, FeedbackKind.OF})
"""Feedback of these kinds is a mark, unless the bot named the pair in a comment. Then the feedback is a verdict."""


@dataclass(frozen=True, slots=True)
class Point:
    """A verdict on one issue's comment, posted or not.

    `right` says whether the comment is right or wrong at every threshold up to `probability`. `weight`: (0, 1].
    """

    probability: float
    right: bool
    weight: float


def points(decisions: Iterable[Decision], feedback: Iterable[Example]) -> list[Point]:
    """The verdicts in `feedback` on each issue's comments.

    Comments in shadow mode and comments below the threshold count too. If somebody confirms a named issue, the comment
    is right at every threshold up to that issue's probability. A comment is wrong if people reject every named issue.
    If several people agree, only the highest weight counts, so repetition gains nothing. Of an issue's decisions with
    the same first candidate, only the earliest counts.
    """
    comments_by_issue: dict[int, dict[int, Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        if named := _named(decision):
            comments_by_issue.setdefault(decision.number, {}).setdefault(named[0].number, decision)
    found: list[Point] = []
    for number, on_issue in by_issue(feedback).items():
        comments = list(comments_by_issue.get(number, {}).values())
        found += _right_points(comments, on_issue)
        for comment in comments:
            found += _wrong_points(comment, on_issue)
    return found


def _named(decision: Decision) -> tuple[Evidence, ...]:
    """The candidates that the comment names; for a silent decision, all candidates that a comment could have named."""
    return decision.shown or tuple(one for one in decision.evidence if one.own)


def _right_points(comments: Sequence[Decision], feedback: Sequence[Example]) -> Iterator[Point]:
    """Points for confirmations. Several together weigh as much as the heaviest confirmation."""
    confirmed = []
    for example in feedback:
        candidate = next((evidence for comment in comments if (evidence := comment.about(example.other))), None)
        if candidate and example.same and (candidate.shown or example.kind not in MARKS):
            confirmed.append((candidate.probability, example.weight))
    highest = 0.0
    # Begin with the most likely candidate. Each later confirmation adds only its weight above the highest so far.
    for probability, weight in sorted(confirmed, reverse=True):
        if weight > highest:
            yield Point(probability, right=True, weight=weight - highest)
            highest = weight


def _wrong_points(comment: Decision, feedback: Sequence[Example]) -> Iterator[Point]:
    """A point if people reject every named candidate."""
    named = _named(comment)
    rejections = [example for example in feedback if not example.same]
    heaviest = [max((one.weight for one in rejections if it.is_about(one.other)), default=0.0) for it in named]
    # People must reject every candidate, so the lowest of these weights counts (0 if some candidate has no rejection).
    weight = min(heaviest)
    if weight:
        yield Point(named[0].probability, right=False, weight=weight)


LOWEST, HIGHEST = POSSIBLY, LIKELY
"""Feedback never moves the threshold below LOWEST or above HIGHEST. Only a repository's settings may."""

ENOUGH = 6.0
"""A move needs this weight: six comments judged by people with triage access, or twelve judged by authors."""

AT_LEAST = 2.0
"""A move needs this weight within .05 (STEP) of the new threshold."""

RIGHT = 0.5
"""At least half of the comments that people judge should be right."""

STEP = 0.05
STEPS = tuple(step / 20 for step in range(2, 13))
"""The thresholds to try: .10 to .60, in steps of STEP."""

WINDOW = 365 * 86_400.0
"""Feedback counts for this many seconds, a year."""


class Move(StrEnum):
    STAYS = "stays"
    RISES = "rises"
    FALLS = "falls"


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The threshold, and the weights of the `right` and `wrong` comments between the default and the threshold.

    If the threshold stays, the weights cover all feedback.
    """

    threshold: float
    move: Move
    right: float
    wrong: float


def calibrate(points: Sequence[Point], usual: float) -> CalibrationResult:
    """The highest supported threshold above the default `usual`, else the lowest supported one below, else `usual`."""
    for threshold in reversed([step for step in STEPS if usual < step <= HIGHEST]):
        right, wrong = _between(points, usual, threshold)
        last_right, last_wrong = _between(points, max(usual, threshold - STEP), threshold)
        if _is_decisive(wrong, right) and _outweighs(last_wrong, last_right):
            return CalibrationResult(threshold, Move.RISES, right, wrong)
    for threshold in (step for step in STEPS if LOWEST <= step < usual):
        right, wrong = _between(points, threshold, usual)
        last_right, last_wrong = _between(points, threshold, min(usual, threshold + STEP))
        if _is_decisive(right, wrong) and _outweighs(last_right, last_wrong):
            return CalibrationResult(threshold, Move.FALLS, right, wrong)
    # The upper limit is exclusive: 1.1 includes a probability of 1.
    right, wrong = _between(points, 0.0, 1.1)
    return CalibrationResult(usual, Move.STAYS, right, wrong)


def _is_decisive(support: float, rest: float) -> bool:
    """Whether the weight that supports a move is at least ENOUGH, and surely more than half of all weight."""
    # RIGHT is one half, so the limit is the same for wrong comments (a rise) and right comments (a fall).
    return support >= ENOUGH and wilson(support / (support + rest), support + rest)[0] > RIGHT


def _outweighs(support: float, rest: float) -> bool:
    return support >= AT_LEAST and support > rest


def _between(points: Sequence[Point], low: float, high: float) -> tuple[float, float]:
    """The weights of right and wrong points with a probability in [low, high)."""
    inside = [point for point in points if low <= point.probability < high]
    return sum(point.weight for point in inside if point.right), sum(
        point.weight for point in inside if not point.right
    )


class ThresholdOrigin(StrEnum):
    """`SETTINGS`: the repository's file sets it. `FEEDBACK`: feedback has moved it. `USUAL`: it is the default."""

    SETTINGS = "settings"
    FEEDBACK = "feedback"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The threshold, its origin, and the weights of the feedback that moved it, if feedback did."""

    value: float
    origin: ThresholdOrigin
    right: float = 0.0
    wrong: float = 0.0


def threshold_in_force(config: RepoConfig, stored: StoredCalibration | None) -> Threshold:
    """The threshold that the bot uses: the repository's file wins, and `calibrate: off` ignores feedback."""
    if config.min_confidence is not None:
        return Threshold(config.min_confidence, ThresholdOrigin.SETTINGS)
    if config.calibrate and stored is not None and stored.threshold is not None:
        return Threshold(stored.threshold, ThresholdOrigin.FEEDBACK, stored.right, stored.wrong)
    return Threshold(MIN_CONFIDENCE, ThresholdOrigin.USUAL)


def recalibrate(store: Store, repo_id: int, now: float) -> bool:
    """Store the recalculated threshold, unless somebody reset it meanwhile. Returns whether the threshold moved."""
    known = store.calibrations.get(repo_id)
    found = current_calibration(store, repo_id, now)
    if known is None and found.move is Move.STAYS and not found.right and not found.wrong:
        return False
    threshold = None if found.move is Move.STAYS else found.threshold  # None: the default
    return store.calibrations.move(repo_id, known, threshold, found.right, found.wrong, now)


def current_calibration(store: Store, repo_id: int, now: float) -> CalibrationResult:
    """The threshold by the current feedback, regardless of the settings."""
    made = current_feedback(store, repo_id, now)
    decisions = store.decisions.of_issues(repo_id, {example.number for example in made})
    return calibrate(points(decisions, made), MIN_CONFIDENCE)


def current_feedback(store: Store, repo_id: int, now: float) -> list[Example]:
    """The feedback that counts: from the last year, and after the last `doppel calibrate --reset`, if any."""
    known = store.calibrations.get(repo_id)
    return feedback_since(store, repo_id, max(known.since if known else 0.0, now - WINDOW))


def feedback_since(store: Store, repo_id: int, since: float, about: Container[int] | None = None) -> list[Example]:
    """Labelled pairs from all feedback since `since`, earliest first. `about`: only pairs with one of these issues."""
    signals, verdicts = store.signals.since(repo_id, since), store.verdicts.since(repo_id, since)
    if about is not None:
        signals = [one for one in signals if one.number in about or one.other in about]
        verdicts = [one for one in verdicts if one.number in about or one.other in about]
    # The bot may have commented on either issue of a pair.
    numbers = {number for one in signals for number in (one.number, one.other)}
    numbers |= {number for one in verdicts for number in (one.number, one.other)}
    return examples(store.decisions.of_issues(repo_id, numbers), signals, verdicts, since)
