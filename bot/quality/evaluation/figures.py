"""One evaluation with all its figures, and the threshold that the figures recommend. Pure.

`wording.py` and docs/evaluate.md explain the figures to maintainers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count
from typing import Any

from bot.domain.likelihood import Interval, wilson
from bot.quality.evaluation.measures import (
    SHARES,
    ConfidenceCalibration,
    JudgedArrival,
    Retrieval,
    ThresholdOutcome,
    Unmarked,
    confidence_calibration,
    likeliest,
    outcome_at,
    retrieval,
    split,
    threshold_for_share,
)

CURVE = tuple(step / 100 for step in range(1, 100))
"""The thresholds in the diagram."""

LISTED_THRESHOLDS = frozenset(CURVE[4::5])
"""The thresholds in the table, .05 to .95 in steps of .05; only these can be recommended."""

FEW = 20
"""A recommendation needs this many known duplicates."""

BEARABLE = 0.08
"""We are 95 % sure that a recommended threshold comments on at most this share of the unmarked issues. Many of these
comments are right: careful readers find two to five times as many duplicates as are marked."""

OTHERS_NEEDED = next(number for number in count(1) if wilson(0, number)[1] <= BEARABLE)
"""The fewest unmarked issues for a recommendation. With fewer, even a share of 0 has an upper bound above BEARABLE."""

LEAST = 0.15
"""The lowest threshold to recommend. From this threshold on, readers find about three of four comments useful."""

MONTH = timedelta(days=365.25 / 12)
RECENT = timedelta(days=365)
"""Monthly averages cover this much of the history, up to the last arrival."""


@dataclass(frozen=True, slots=True)
class Monthly:
    """One month at one threshold: the numbers of arriving issues and of comments.

    `right` counts the comments that name a marked original. `said` is the sum of the confidences of the comments' first
    candidates. It estimates how many of these candidates report the same problem as the arriving issue.
    """

    issues: float
    comments: float
    right: float
    said: float


class AdviceReason(StrEnum):
    FEW_DUPLICATES = "too few known duplicates"
    FEW_OTHERS = "too few issues that nobody marked"
    NOTHING_BEARABLE = "no threshold is quiet enough on what nobody marked"
    CATCHES = "catches the most duplicates while few unmarked issues get a comment"


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommended threshold, or None, with the `reason`."""

    threshold: float | None
    reason: AdviceReason


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of an evaluation.

    `issues` counts all issues, and `arrivals` the issues that can be judged. `asked` counts the evaluated sample of
    arrivals, and `silent` the unmarked issues in this sample. `rr_intervals[k]` is the interval of the share
    `retrieval.rr[k]`, if there are duplicates. `limits` maps each of SHARES to the outcome at that share's threshold
    (`threshold_for_share`). `caught_intervals` maps each of SHARES to the interval of this outcome's `caught`.
    `curve` has the outcomes at the thresholds of CURVE, and `at` the outcome at `min_confidence`.
    `unmarked` lists the likeliest pairs without a mark. `period` holds the times of the first and the last arrival.
    For each threshold, `monthly` has an average month, and `last_month` has the MONTH up to the last arrival.
    """

    issues: int
    arrivals: int
    asked: int
    retrieval: Retrieval
    silent: int
    rr_intervals: dict[int, Interval]
    caught_intervals: dict[float, Interval]
    calibration: ConfidenceCalibration
    limits: dict[float, ThresholdOutcome]
    curve: tuple[ThresholdOutcome, ...]
    monthly: dict[float, Monthly]
    last_month: dict[float, Monthly]
    at: ThresholdOutcome
    advice: Advice
    unmarked: tuple[Unmarked, ...]
    period: tuple[datetime, datetime]

    @property
    def cuts(self) -> tuple[ThresholdOutcome, ...]:
        """The rows of the table; a row's `cut` is its threshold."""
        return tuple(row for row in self.curve if row.cut in LISTED_THRESHOLDS)

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`; intervals are [low, high], and shares lie in [0, 1]."""
        return {
            "issues": self.issues,
            "arrivals": self.arrivals,
            "asked": self.asked,
            "period": [moment.isoformat() for moment in self.period],
            "duplicates": self.retrieval.queries,
            "silent": self.silent,
            **{f"RR@{k}": value for k, value in self.retrieval.rr.items()},
            "MRR": self.retrieval.mrr,
            "intervals": {
                **{f"RR@{k}": list(interval) for k, interval in self.rr_intervals.items()},
                **{f"caught at {share:.0%}": list(interval) for share, interval in self.caught_intervals.items()},
            },
            "calibration": asdict(self.calibration),
            "bothered": {f"{share:.0%}": asdict(row) for share, row in self.limits.items()},
            "thresholds": [asdict(row) | {"monthly": asdict(self.monthly[row.cut])} for row in self.cuts],
            "min_confidence": asdict(self.at)
            | {"monthly": asdict(self.monthly[self.at.cut]), "last_month": asdict(self.last_month[self.at.cut])},
            "unmarked": [asdict(one) for one in self.unmarked],
            "advice": asdict(self.advice)
            | ({} if self.advice.threshold is None else {"last_month": asdict(self.last_month[self.advice.threshold])}),
        }


def evaluate(
    judged: Sequence[JudgedArrival], *, issues: int, arrived: Sequence[datetime], min_confidence: float
) -> Evaluation:
    """The figures of the `judged` arrivals.

    `issues` is the number of all issues; `arrived` has the times of all issues that can be judged, at least one.
    """
    curve = tuple(outcome_at(judged, cut) for cut in CURVE)
    at = outcome_at(judged, min_confidence)
    found, silent = retrieval(judged), len(split(judged)[1])
    limits = {share: outcome_at(judged, threshold_for_share(judged, share)) for share in SHARES}
    per_month = monthly_arrivals(arrived)
    return Evaluation(
        issues=issues,
        arrivals=len(arrived),
        asked=len(judged),
        retrieval=found,
        silent=silent,
        rr_intervals={k: wilson(share, found.queries) for k, share in found.rr.items() if found.queries},
        caught_intervals={share: wilson(row.caught, found.queries) for share, row in limits.items()}
        if found.queries and silent
        else {},
        calibration=confidence_calibration(judged),
        limits=limits,
        curve=curve,
        monthly={row.cut: _month(row, per_month, sum(one.weight for one in judged)) for row in (*curve, at)},
        last_month=_last_month(judged, arrived, (*CURVE, min_confidence)),
        at=at,
        unmarked=likeliest(judged),
        period=(min(arrived), max(arrived)),
        advice=_advice(judged, arrived),
    )


def _advice(judged: Sequence[JudgedArrival], arrived: Sequence[datetime]) -> Advice:
    """Advise, but ignore the last month's unmarked issues: people may still mark some of these issues as duplicates.

    The last month counts if fewer than OTHERS_NEEDED, or fewer than half, of the unmarked issues are older.
    """
    marked, silent = split(judged)
    old = [one for one in silent if max(arrived) - one.arrived >= MONTH]
    if len(old) >= max(OTHERS_NEEDED, len(silent) / 2):
        silent = old
    counted = [*marked, *silent]
    return advise([outcome_at(counted, cut) for cut in sorted(LISTED_THRESHOLDS)], len(marked), len(silent))


def advise(cuts: Sequence[ThresholdOutcome], duplicates: int, silent: int) -> Advice:
    """The threshold that catches the most duplicates, among thresholds that BEARABLE and LEAST allow.

    `cuts` has the outcomes to choose from. `duplicates` and `silent` are the numbers of marked and of unmarked issues.
    The comments that people called wrong must not outnumber the comments that name a marked original.
    """
    if duplicates < FEW:
        return Advice(None, AdviceReason.FEW_DUPLICATES)
    if silent < OTHERS_NEEDED:
        return Advice(None, AdviceReason.FEW_OTHERS)
    quiet = [row for row in cuts if row.caught and wilson(row.false_alarms, silent)[1] <= BEARABLE]
    useful = [row for row in quiet if row.cut >= LEAST and row.wrong <= row.right]
    # Among thresholds that catch equally many duplicates, the highest causes the fewest comments.
    if chosen := max(useful, key=lambda row: (row.caught, row.cut), default=None):
        return Advice(chosen.cut, AdviceReason.CATCHES)
    return Advice(None, AdviceReason.NOTHING_BEARABLE)


def monthly_arrivals(arrived: Sequence[datetime]) -> float:
    """The number of issues that arrive in an average month of the last year, or of a shorter history.

    A history of less than a month counts as one month.
    """
    last = max(arrived)
    # Compare differences: subtracting RECENT from a very early date would raise OverflowError.
    recent = sum(last - moment <= RECENT for moment in arrived)
    # Divide by the whole period, even if no issue arrived in its first months.
    return recent / max(min(last - min(arrived), RECENT) / MONTH, 1.0)


def _last_month(
    judged: Sequence[JudgedArrival], arrived: Sequence[datetime], cuts: Sequence[float]
) -> dict[float, Monthly]:
    last = max(arrived)
    recent = [one for one in judged if last - one.arrived < MONTH]
    arrivals = sum(last - moment < MONTH for moment in arrived)
    weight = sum(one.weight for one in recent)
    return {cut: _month(outcome_at(recent, cut), arrivals, weight) for cut in cuts}


def _month(row: ThresholdOutcome, arrivals: float, weight: float) -> Monthly:
    """The outcome `row` of arrivals with the total `weight`, scaled to a month with the given number of arrivals."""
    scale = arrivals / weight if weight else 0.0
    return Monthly(arrivals, row.comments * scale, row.right * scale, row.said * scale)
