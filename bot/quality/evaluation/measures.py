"""Measures the answers for arriving issues: retrieval, calibration, and the effect of a threshold. Pure.

Candidates are sorted best first. The measures assume that a comment names each of the first five candidates whose
confidence reaches the threshold. A sampled arrival stands for several arrivals (`weight`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.likelihood import POSSIBLY

Id = int | str

MOST_SHOWN = 5
"""Evaluated comments name up to five candidates, as commands do (P6). By default, unasked comments name three (P4)."""

DEPTHS = (1, 5, 10, 20)
"""The values of k in RR@k, the share of duplicates with an original among the first k candidates."""

SHARES = (0.01, 0.02, 0.05, 0.10)
"""Shares of the unmarked issues that may get a comment; `threshold_for_share` finds each share's threshold."""

BINS = 10
HIGH = 0.3
"""Candidates from this confidence on get a calibration error of their own. The total error hides theirs,
because many candidates have a confidence near 0."""


@dataclass(frozen=True, slots=True)
class JudgedArrival:
    """One arriving issue with the candidates found, best first.

    `originals` holds the marked originals, or None for an unmarked issue; `different` holds the issues that people
    called different.
    """

    id: Id
    arrived: datetime
    originals: frozenset[Id] | None
    found: tuple[tuple[Id, float], ...]
    weight: float = 1.0
    different: frozenset[Id] = frozenset()

    @property
    def rank(self) -> int | None:
        """The rank of the first original among the candidates, from 1; None if no candidate is an original."""
        originals = self.originals or frozenset()
        return next((rank for rank, (id, _) in enumerate(self.found, 1) if id in originals), None)

    @property
    def top(self) -> float:
        """The confidence of the first candidate; 0 without candidates."""
        return self.found[0][1] if self.found else 0.0

    @property
    def catching_threshold(self) -> float:
        """The highest threshold at which a comment names an original; -1 if no comment does."""
        originals = self.originals or frozenset()
        return max((confidence for id, confidence in self.found[:MOST_SHOWN] if id in originals), default=-1.0)

    def is_wrong(self, cut: float) -> bool:
        """Whether the comment at `cut` names only issues from `different`. There must be a comment at `cut`."""
        return all(id in self.different for id, confidence in self.found[:MOST_SHOWN] if confidence >= cut)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """`queries` counts the duplicates, `rr[k]` is the share with an original in the first k, `mrr` the mean 1/rank."""

    queries: int
    rr: dict[int, float]
    mrr: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """First candidates with confidences of `low` to `low` + .1: `confidence` is the mean, `right` the marked share."""

    low: float
    count: int
    weight: float
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class ConfidenceCalibration:
    """The first candidate's confidence compared with the marks.

    The confidence is the probability that a careful reader calls two issues the same. Marks are incomplete, so a
    confidence above the marked share can be right. A confidence below the marked share is too low. `ece` is the
    expected calibration error over ten equal bins (Naeini et al., AAAI 2015); `ece_high` covers only confidences from
    HIGH on. `answers` and `answers_high` count the arrivals behind the two errors. `brier_skill` is 1 - (Brier score /
    Brier score of the base rate); above 0, the confidence is better than a constant. `ece_high` is None if no
    confidence reaches HIGH. `brier_skill` is None if every first candidate is marked, or none is.
    """

    answers: int
    answers_high: int
    ece: float
    ece_high: float | None
    brier_skill: float | None
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class ThresholdOutcome:
    """The effect of the threshold `cut`. Numbers of issues are weighted.

    `right` counts the comments that name a marked original, and `precision` is the share of such comments (None without
    comments). `said` is the sum of the confidences of the comments' first candidates. It estimates how many of these
    candidates report the same problem as the arriving issue. `wrong` counts the comments that name only issues that
    people called different, and `bothered` the comments on unmarked issues. `caught` is the share of marked duplicates
    whose comment names an original. `false_alarms` is the share of unmarked issues with a comment, even a right one.
    """

    cut: float
    comments: float
    right: float
    bothered: float
    precision: float | None
    caught: float
    false_alarms: float
    said: float = 0.0
    wrong: float = 0.0


def split(judged: Iterable[JudgedArrival]) -> tuple[list[JudgedArrival], list[JudgedArrival]]:
    """The arrivals that are marked as duplicates, and the unmarked arrivals."""
    duplicates: list[JudgedArrival] = []
    unmarked: list[JudgedArrival] = []
    for arrival in judged:
        (unmarked if arrival.originals is None else duplicates).append(arrival)
    return duplicates, unmarked


def retrieval(judged: Iterable[JudgedArrival]) -> Retrieval:
    duplicates, _ = split(judged)
    ranks = [arrival.rank for arrival in duplicates]
    count = max(len(ranks), 1)
    rr = {k: sum(rank is not None and rank <= k for rank in ranks) / count for k in DEPTHS}
    return Retrieval(len(ranks), rr, sum(1 / rank for rank in ranks if rank) / count)


def confidence_calibration(judged: Iterable[JudgedArrival]) -> ConfidenceCalibration:
    tops = [(arrival.top, arrival.rank == 1, arrival.weight) for arrival in judged if arrival.found]
    high = [top for top in tops if top[0] >= HIGH]
    total = sum(weight for _, _, weight in tops)
    base = sum(right * weight for _, right, weight in tops) / total if tops else 0.0
    brier = sum(weight * (confidence - right) ** 2 for confidence, right, weight in tops)
    base_brier = sum(weight * (base - right) ** 2 for _, right, weight in tops)
    return ConfidenceCalibration(
        answers=len(tops),
        answers_high=len(high),
        ece=_error(bins_of(tops)),
        ece_high=_error(bins_of(high)) if high else None,
        brier_skill=1 - brier / base_brier if base_brier else None,
        bins=bins_of(tops),
    )


def bins_of(tops: Sequence[tuple[float, bool, float]]) -> tuple[CalibrationBin, ...]:
    """The bins with candidates, lowest first. Each of `tops` is (confidence, marked, weight)."""
    members: list[list[tuple[float, bool, float]]] = [[] for _ in range(BINS)]
    for top in tops:
        members[min(BINS - 1, int(top[0] * BINS))].append(top)
    made = []
    for index, inside in enumerate(members):
        if total := sum(weight for _, _, weight in inside):
            mean = sum(confidence * weight for confidence, _, weight in inside) / total
            marked = sum(right * weight for _, right, weight in inside) / total
            made.append(CalibrationBin(index / BINS, len(inside), total, mean, marked))
    return tuple(made)


def _error(bins: Sequence[CalibrationBin]) -> float:
    """The expected calibration error: the weighted mean distance of confidence and marked share."""
    total = sum(one.weight for one in bins)
    return sum(one.weight * abs(one.confidence - one.right) for one in bins) / total if total else 0.0


def outcome_at(judged: Iterable[JudgedArrival], cut: float) -> ThresholdOutcome:
    duplicates, unmarked = split(judged)
    right = sum(arrival.weight for arrival in duplicates if arrival.catching_threshold >= cut)
    commented_duplicates = [arrival for arrival in duplicates if arrival.found and arrival.top >= cut]
    commented_unmarked = [arrival for arrival in unmarked if arrival.found and arrival.top >= cut]
    commented = [*commented_duplicates, *commented_unmarked]
    duplicate_weight, unmarked_weight = (sum(arrival.weight for arrival in part) for part in (duplicates, unmarked))
    bothered = sum(arrival.weight for arrival in commented_unmarked)
    comments = sum(arrival.weight for arrival in commented_duplicates) + bothered
    return ThresholdOutcome(
        cut=cut,
        comments=comments,
        right=right,
        bothered=bothered,
        precision=right / comments if comments else None,
        caught=right / duplicate_weight if duplicate_weight else 0.0,
        false_alarms=bothered / unmarked_weight if unmarked_weight else 0.0,
        said=sum(arrival.weight * arrival.top for arrival in commented),
        wrong=sum(arrival.weight for arrival in commented if arrival.is_wrong(cut)),
    )


# In floating point, a confidence times 1,000 may be slightly too low; _ROUNDING evens this out.
_STEPS, _ROUNDING = 1_000, 1e-9


def threshold_for_share(judged: Iterable[JudgedArrival], share: float) -> float:
    """The lowest threshold, a multiple of 1/1,000, at which at most `share` of the unmarked issues get a comment."""
    tops = sorted((arrival.top for arrival in split(judged)[1]), reverse=True)
    allowed = int(share * len(tops))
    # At the threshold `tops[allowed]`, one issue too many would get a comment. Take the next thousandth above.
    return float(math.floor(tops[allowed] * _STEPS + 1 + _ROUNDING) / _STEPS) if allowed < len(tops) else 0.0


LISTED = 10
LEAST_LISTED = POSSIBLY
"""The confidence from which pairs are listed: nobody would set a lower threshold."""


@dataclass(frozen=True, slots=True)
class Unmarked:
    """An unmarked issue, its first candidate, and that candidate's confidence."""

    id: Id
    candidate: Id
    confidence: float


def likeliest(judged: Iterable[JudgedArrival]) -> tuple[Unmarked, ...]:
    """Up to `LISTED` unmarked issues whose first candidate has at least `LEAST_LISTED`, likeliest first.

    Leaves out pairs that people have called different: nobody needs to read such a pair again.
    """
    arrivals = [
        arrival
        for arrival in split(judged)[1]
        if arrival.top >= LEAST_LISTED and arrival.found[0][0] not in arrival.different
    ]
    arrivals.sort(key=lambda arrival: (arrival.top, arrival.arrived), reverse=True)
    return tuple(Unmarked(arrival.id, arrival.found[0][0], arrival.top) for arrival in arrivals[:LISTED])


def without_pairs(unmarked: Iterable[Unmarked], pairs: Collection[tuple[int, int]]) -> tuple[Unmarked, ...]:
    """`unmarked` without the given pairs; the order of a pair's two issues does not matter."""
    return tuple(one for one in unmarked if {(one.id, one.candidate), (one.candidate, one.id)}.isdisjoint(pairs))
