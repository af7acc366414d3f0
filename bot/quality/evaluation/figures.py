"""One evaluation with all its figures, and the threshold that they recommend. Pure.

`wording.py` and docs/evaluate.md say what the figures mean to a maintainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import count
from typing import Any

import numpy as np

from bot.domain.likelihood import LEVEL, Interval, wilson
from bot.quality.evaluation.measures import (
    DEPTHS,
    SHARES,
    ConfidenceCalibration,
    JudgedArrival,
    Retrieval,
    ThresholdOutcome,
    Unmarked,
    confidence_calibration,
    likeliest,
    lowest_threshold,
    outcome_at,
    retrieval,
    split,
    threshold_for_share,
)

CURVE = tuple(step / 100 for step in range(1, 100))
"""The thresholds that are drawn."""

LISTED_THRESHOLDS = frozenset(CURVE[4::5])
"""Those of them that are listed and may be recommended."""

FEW = 20
"""With fewer known duplicates nothing is recommended."""

BEARABLE = 0.08
"""At a recommended threshold at most this share of the unmarked issues gets a comment, at 95 %. Many of these comments
are right: readers call two to five times as many pairs the same as are marked."""

LEAST = 0.15
"""The lowest threshold to recommend: from here on, readers find at least three of four comments useful (P5)."""

MONTH = timedelta(days=365.25 / 12)
RECENT = timedelta(days=365)
"""The average month is one of the last year."""


@dataclass(frozen=True, slots=True)
class Monthly:
    """One month at one threshold: arriving issues, comments, those that name a marked original, and those that name the
    same report first if the confidence holds.
    """

    issues: float
    comments: float
    right: float
    said: float


class AdviceReason(StrEnum):
    """Why a threshold is recommended, or none is."""

    FEW_DUPLICATES = "too few known duplicates"
    FEW_OTHERS = "too few issues that nobody marked"
    NOTHING_BEARABLE = "no threshold is quiet enough on what nobody marked"
    CATCHES = "catches most while few of what nobody marked get a comment"


@dataclass(frozen=True, slots=True)
class Advice:
    """`threshold` is None if none can be recommended, for that `reason`."""

    threshold: float | None
    reason: AdviceReason


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures. `asked` arrivals were sampled from the `arrivals` that can be judged; `silent` ones have no mark.

    `at` is the outcome at `min_confidence`. `unmarked` are the likeliest pairs without a mark, for somebody to read.
    `period` is the first and last day of the arrivals. `monthly` has an average month for each threshold, `last_month`
    the thirty days before the last arrival.
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
    period: tuple[datetime, datetime] | None

    @property
    def cuts(self) -> tuple[ThresholdOutcome, ...]:
        """The outcomes at the listed thresholds."""
        return tuple(row for row in self.curve if row.cut in LISTED_THRESHOLDS)

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`; intervals are [low, high], shares lie in [0, 1]."""
        return {
            "issues": self.issues,
            "arrivals": self.arrivals,
            "asked": self.asked,
            "period": None if self.period is None else [moment.isoformat() for moment in self.period],
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
    """The figures of `judged` arrivals; `arrived` are the times of all that could be judged among `issues`."""
    curve = tuple(outcome_at(judged, cut) for cut in CURVE)
    at = outcome_at(judged, min_confidence)
    found, silent = retrieval(judged), len(split(judged)[1])
    a_month = monthly_arrivals(arrived)
    return Evaluation(
        issues=issues,
        arrivals=len(arrived),
        asked=len(judged),
        retrieval=found,
        silent=silent,
        rr_intervals=retrieval_intervals(judged),
        caught_intervals=caught_intervals(judged),
        calibration=confidence_calibration(judged),
        limits={share: outcome_at(judged, threshold_for_share(judged, share)) for share in SHARES},
        curve=curve,
        monthly={row.cut: _month(row, a_month, sum(one.weight for one in judged)) for row in (*curve, at)},
        last_month=_last_month(judged, arrived, (*CURVE, min_confidence)),
        at=at,
        unmarked=likeliest(judged),
        period=(min(arrived), max(arrived)) if arrived else None,
        advice=_advice(judged, arrived),
    )


def _advice(judged: Sequence[JudgedArrival], arrived: Sequence[datetime]) -> Advice:
    """The advice, without the last month's unmarked issues: nobody has triaged these, and some are duplicates.

    Where these are most of what is unmarked, they count, since little else is known.
    """
    marked, silent = split(judged)
    old = [one for one in silent if max(arrived) - one.arrived >= MONTH]
    if len(old) >= max(others_needed(0), len(silent) / 2):
        silent = old
    counted = [*marked, *silent]
    return advise([outcome_at(counted, cut) for cut in sorted(LISTED_THRESHOLDS)], len(marked), len(silent))


def advise(cuts: Sequence[ThresholdOutcome], duplicates: int, silent: int) -> Advice:
    """The threshold that catches most duplicates while surely few unmarked issues get a comment.

    Marks say how much is caught, not how many comments are wrong. Where people called comments wrong, no more may be
    wrong than are right by mark.
    """
    if duplicates < FEW:
        return Advice(None, AdviceReason.FEW_DUPLICATES)
    if silent < others_needed(0):
        return Advice(None, AdviceReason.FEW_OTHERS)
    quiet = [row for row in cuts if row.caught and wilson(row.false_alarms, silent)[1] <= BEARABLE]
    useful = [row for row in quiet if row.cut >= LEAST and row.wrong <= row.right]
    # Of those that catch the same, the highest speaks least.
    if chosen := max(useful, key=lambda row: (row.caught, row.cut), default=None):
        return Advice(chosen.cut, AdviceReason.CATCHES)
    return Advice(None, AdviceReason.NOTHING_BEARABLE)


def others_needed(alarms: int) -> int:
    """How many unmarked issues it takes until this many comments on them are surely BEARABLE."""
    return next(number for number in count(max(alarms, 1)) if wilson(alarms / number, number)[1] <= BEARABLE)


def monthly_arrivals(arrived: Sequence[datetime]) -> float:
    """How many issues arrive in an average month of the last year, or of a shorter history.

    A history of less than a month counts as one month.
    """
    if not arrived:
        return 0.0
    last = max(arrived)
    # Differences alone: before the first year of the calendar there is no moment.
    recent = sum(last - moment <= RECENT for moment in arrived)
    # A year that began quietly is a year all the same.
    return recent / max(min(last - min(arrived), RECENT) / MONTH, 1.0)


def _last_month(
    judged: Sequence[JudgedArrival], arrived: Sequence[datetime], cuts: Sequence[float]
) -> dict[float, Monthly]:
    """The outcome of the last month at each threshold."""
    last = max(arrived, default=None)
    recent = [one for one in judged if last is not None and last - one.arrived < MONTH]
    arrivals = sum(last is not None and last - moment < MONTH for moment in arrived)
    weight = sum(one.weight for one in recent)
    return {cut: _month(outcome_at(recent, cut), arrivals, weight) for cut in cuts}


def _month(row: ThresholdOutcome, arrivals: float, weight: float) -> Monthly:
    """The outcome `row` of arrivals of this weight, scaled to a month with so many arrivals."""
    share = arrivals / weight if weight else 0.0
    return Monthly(arrivals, row.comments * share, row.right * share, row.said * share)


ROUNDS = 1_000


def retrieval_intervals(judged: Sequence[JudgedArrival]) -> dict[int, Interval]:
    """For each k the interval that holds RR@k at LEVEL; empty without duplicates.

    Wilson's, since a bootstrap of duplicates that were all found would be certain.
    """
    queries, _ = split(judged)
    ranks = [one.rank for one in queries]
    found = {k: sum(rank is not None and rank <= k for rank in ranks) for k in DEPTHS}
    return {k: wilson(hits / len(ranks), len(ranks)) for k, hits in found.items() if ranks}


def caught_intervals(judged: Sequence[JudgedArrival]) -> dict[float, Interval]:
    """For each share of comments on unmarked issues, the bootstrap interval of the share of duplicates caught.

    Each round draws both kinds of issues and derives the threshold anew. If all rounds agree, the interval is Wilson's.
    Empty if a kind is missing.
    """
    queries, silent = split(judged)
    if not queries or not silent:
        return {}
    rng = np.random.default_rng(0)
    until = np.array([one.caught_until for one in queries])
    tops = np.array([one.top for one in silent])
    caught: dict[float, list[float]] = {share: [] for share in SHARES}
    for _ in range(ROUNDS):
        repeated = until[rng.integers(len(until), size=len(until))]
        fresh = -np.sort(-tops[rng.integers(len(tops), size=len(tops))])
        for share, values in caught.items():
            # ndarray is a sequence of floats to us, though not to its type.
            values.append(float((repeated >= lowest_threshold(fresh, share)).mean()))  # type: ignore[arg-type]
    return {share: _interval(np.array(values), len(until)) for share, values in caught.items()}


def _interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], count: int) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (float(low), float(high)) if low < high else wilson(float(low), count)
