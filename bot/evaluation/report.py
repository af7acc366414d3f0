"""One evaluation with all its figures, and the threshold that follows from them. Pure.

What they mean to a maintainer is said in `bot/render/evaluation.py` and docs/evaluate.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from bot.evaluation.bootstrap import Interval, caught_intervals, retrieval_intervals
from bot.evaluation.metrics import (
    SHARES,
    Calibration,
    Judged,
    Retrieval,
    Speaking,
    calibration,
    cut_at,
    retrieval,
    speaking,
    split,
)

CURVE = tuple(step / 100 for step in range(1, 100))
"""The thresholds that are drawn."""

CUTS = frozenset(CURVE[4::5])
"""Those of them that are listed and may be recommended."""

FEW = 20
"""With fewer known duplicates nothing is recommended: one more or less would turn everything over."""

BEARABLE = 0.02
"""At most one in fifty authors of something new is bothered where a threshold is recommended."""

RIGHT = 0.5
"""At least every second comment names an original that somebody else named, too."""

MONTH = timedelta(days=365.25 / 12)
RECENT = timedelta(days=365)
"""A repository changes: comments a month are counted over its last year."""


@dataclass(frozen=True, slots=True)
class Monthly:
    """An average month at one threshold: issues that arrive, comments on them, and comments that name an original."""

    issues: float
    comments: float
    right: float


@dataclass(frozen=True, slots=True)
class Advice:
    """`threshold` is None with too few duplicates. `every_second` says whether RIGHT could be kept."""

    threshold: float | None
    every_second: bool


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures. `asked` arrivals were asked about for the `arrivals` that can be judged (a sample, if fewer).

    `months` is how long the recent ones took to arrive; `at` is what happens at `min_confidence`.
    """

    issues: int
    arrivals: int
    asked: int
    retrieval: Retrieval
    silent: int
    rr_intervals: dict[int, Interval]
    caught_intervals: dict[float, Interval]
    calibration: Calibration
    limits: dict[float, Speaking]
    curve: tuple[Speaking, ...]
    monthly: dict[float, Monthly]
    at: Speaking
    advice: Advice

    @property
    def cuts(self) -> tuple[Speaking, ...]:
        """What happens at the thresholds that are listed."""
        return tuple(row for row in self.curve if row.cut in CUTS)

    def to_json(self) -> dict[str, Any]:
        """An object of plain values; intervals are [low, high], shares lie in [0, 1]."""
        return {
            "issues": self.issues,
            "arrivals": self.arrivals,
            "asked": self.asked,
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
            "min_confidence": asdict(self.at) | {"monthly": asdict(self.monthly[self.at.cut])},
            "advice": asdict(self.advice),
        }


def evaluate(judged: Sequence[Judged], *, issues: int, arrivals: int, min_confidence: float) -> Evaluation:
    """The figures of `judged` arrivals, of `arrivals` that could be judged among `issues` in the file."""
    curve = tuple(speaking(judged, cut) for cut in CURVE)
    cuts = tuple(row for row in curve if row.cut in CUTS)
    at = speaking(judged, min_confidence)
    recent, months = _recent(judged)
    found = retrieval(judged)
    return Evaluation(
        issues=issues,
        arrivals=arrivals,
        asked=len(judged),
        retrieval=found,
        silent=len(split(judged)[1]),
        rr_intervals=retrieval_intervals(judged),
        caught_intervals=caught_intervals(judged),
        calibration=calibration(judged),
        limits={share: speaking(judged, cut_at(judged, share)) for share in SHARES},
        curve=curve,
        monthly={row.cut: monthly(recent, months, row.cut) for row in (*cuts, at)},
        at=at,
        advice=advise(cuts, found.queries),
    )


def advise(cuts: Sequence[Speaking], duplicates: int) -> Advice:
    """The threshold that catches most duplicates while it bothers few, and is right every second time if that can be.

    Where no threshold is right so often, it is the one that bothers at most half of what is BEARABLE.
    """
    if duplicates < FEW:
        return Advice(None, every_second=False)
    useful = [row for row in cuts if row.comments and row.false_alarms <= BEARABLE]
    right = [row for row in useful if row.precision is not None and row.precision >= RIGHT]
    calm = [row for row in useful if row.false_alarms <= BEARABLE / 2]
    # Of those that catch the same, the highest bothers least.
    chosen = max(right or calm, key=lambda row: (row.caught, row.cut), default=None)
    return Advice(chosen.cut if chosen and chosen.caught else None, every_second=bool(right))


def monthly(recent: Sequence[Judged], months: float, cut: float) -> Monthly:
    """An average month of the recent arrivals at one threshold."""
    spoken = speaking(recent, cut)
    return Monthly(sum(one.weight for one in recent) / months, spoken.comments / months, spoken.right / months)


def _recent(judged: Sequence[Judged]) -> tuple[list[Judged], float]:
    """The arrivals of the last year and how many months they took: one at least."""
    if not judged:
        return [], 1.0
    last = max(one.arrived for one in judged)
    recent = [one for one in judged if one.arrived >= last - RECENT]
    return recent, max((last - min(one.arrived for one in recent)) / MONTH, 1.0)
