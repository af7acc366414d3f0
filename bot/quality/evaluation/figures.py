"""One evaluation with all its figures, and the threshold that follows from them. Pure.

What they mean to a maintainer is said in `bot/quality/evaluation/wording.py` and docs/evaluate.md.
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
"""With fewer known duplicates nothing is recommended: one more or less would turn everything over."""

BEARABLE = 0.08
"""At most so many of the issues that nobody marked get a comment where a threshold is recommended, at 95 %. How many of
these comments are wrong the marks do not say: readers call two to five times as many pairs the same as are marked."""

LEAST = 0.15
"""No lower threshold is recommended: from this one on, readers find at least three of four comments useful (P5)."""

MONTH = timedelta(days=365.25 / 12)
RECENT = timedelta(days=365)
"""A repository grows and shrinks: its months are those of its last year."""


@dataclass(frozen=True, slots=True)
class Monthly:
    """A month at one threshold: issues that arrive, comments on them, how many of these name an original that is
    marked, and how many name the same report first if the confidence holds.
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
    """`threshold` is None where the reason is one against each."""

    threshold: float | None
    reason: AdviceReason


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures. `asked` arrivals were asked about for the `arrivals` that can be judged (a sample, if fewer).

    `silent` is how many have no mark. `at` is what happens at `min_confidence`, and `unmarked` is where it is surest
    though no label says that it is right, for somebody to read. `period` is the days from and to which arrivals can be
    judged. `monthly` is by threshold, and so is `last_month`: not an average, but the issues of
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
        """What happens at the thresholds that are listed."""
        return tuple(row for row in self.curve if row.cut in LISTED_THRESHOLDS)

    def to_json(self) -> dict[str, Any]:
        """An object of plain values; intervals are [low, high], shares lie in [0, 1]."""
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
        advice=advise([row for row in curve if row.cut in LISTED_THRESHOLDS], found.queries, silent),
    )


def advise(cuts: Sequence[ThresholdOutcome], duplicates: int, silent: int) -> Advice:
    """The threshold that catches most duplicates while surely few of the issues without a mark get a comment.

    Marks tell of what is there, not of what is not: they say how much is caught, and nothing of how many comments are
    wrong. Where people said so themselves, no more comments may be wrong than are right by mark.
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
    """How many issues without a mark it takes for comments on so many of them to be surely BEARABLE."""
    return next(number for number in count(max(alarms, 1)) if wilson(alarms / number, number)[1] <= BEARABLE)


def monthly_arrivals(arrived: Sequence[datetime]) -> float:
    """How many issues arrive in an average month of the last year, or of all the time where that is shorter; all of
    them, where they took less than a month.
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
    """What would have happened in the month that ends with the last arrival, at each threshold."""
    last = max(arrived, default=None)
    recent = [one for one in judged if last is not None and last - one.arrived < MONTH]
    arrivals = sum(last is not None and last - moment < MONTH for moment in arrived)
    weight = sum(one.weight for one in recent)
    return {cut: _month(outcome_at(recent, cut), arrivals, weight) for cut in cuts}


def _month(row: ThresholdOutcome, arrivals: float, weight: float) -> Monthly:
    """What `row` says of arrivals that weigh so much together, for a month with so many of them."""
    share = arrivals / weight if weight else 0.0
    return Monthly(arrivals, row.comments * share, row.right * share, row.said * share)


ROUNDS = 1_000


def retrieval_intervals(judged: Sequence[JudgedArrival]) -> dict[int, Interval]:
    """For each k the interval that holds RR@k with a probability of LEVEL; empty without duplicates.

    Wilson's, since a bootstrap of duplicates that were all found knows of no other and would be sure.
    """
    queries, _ = split(judged)
    ranks = [one.rank for one in queries]
    found = {k: sum(rank is not None and rank <= k for rank in ranks) for k in DEPTHS}
    return {k: wilson(hits / len(ranks), len(ranks)) for k, hits in found.items() if ranks}


def caught_intervals(judged: Sequence[JudgedArrival]) -> dict[float, Interval]:
    """For each share of bothered issues the interval of the share of duplicates caught.

    Both kinds of issues are drawn anew, and the threshold follows from those drawn. Where that says the same each time,
    as it does of duplicates of which none or each one is caught, it is Wilson's. Empty where a kind is missing.
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
