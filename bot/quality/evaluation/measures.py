"""What the answers for arriving issues are worth: retrieval, calibration, and the effect of a threshold. Pure.

Candidates come best first; a comment shows the first five at or above the threshold. An arrival that was sampled stands
for several others (`weight`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.likelihood import POSSIBLY

Id = int | str

MOST_SHOWN = 5
"""Candidates that a comment shows at most."""

DEPTHS = (1, 5, 10, 20)
"""The k of RR@k."""

SHARES = (0.01, 0.02, 0.05, 0.10)
"""Shares of the unmarked issues that may get a comment; `threshold_for_share` finds the threshold for each."""

BINS = 10
HIGH = 0.3
"""From this confidence on there is an error of its own (`ece_high`): most candidates lie near 0 and hide it."""

# Thresholds are multiples of 1/1,000; the rounding error of a product must not lead to the one below.
_STEPS, _ROUNDING = 1_000, 1e-9


@dataclass(frozen=True, slots=True)
class JudgedArrival:
    """One arriving issue with the candidates found, best first. `originals` are the marked ones (None: unmarked).

    `different` are the issues that people called different.
    """

    id: Id
    arrived: datetime
    originals: frozenset[Id] | None
    found: tuple[tuple[Id, float], ...]
    weight: float = 1.0
    different: frozenset[Id] = frozenset()

    @property
    def rank(self) -> int | None:
        """The rank of the first original among the candidates, from 1; None if there is none."""
        wanted = self.originals or frozenset()
        return next((place for place, (id, _) in enumerate(self.found, 1) if id in wanted), None)

    @property
    def top(self) -> float:
        """The confidence of the first candidate; 0 if there is none."""
        return self.found[0][1] if self.found else 0.0

    @property
    def caught_until(self) -> float:
        """The highest threshold at which a comment names an original; -1 if none does."""
        wanted = self.originals or frozenset()
        return max((confidence for id, confidence in self.found[:MOST_SHOWN] if id in wanted), default=-1.0)

    def is_wrong(self, cut: float) -> bool:
        """Whether people called every issue different that a comment at this threshold names."""
        return all(id in self.different for id, confidence in self.found[:MOST_SHOWN] if confidence >= cut)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """`rr[k]` is the share of duplicates with an original among the first k candidates; `mrr` the mean of 1/rank."""

    queries: int
    rr: dict[int, float]
    mrr: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """First candidates in one tenth of the confidence: their weight, mean confidence, and the share that is marked."""

    low: float
    count: int
    weight: float
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class ConfidenceCalibration:
    """The first candidate's confidence compared with the marks.

    The confidence is the probability that a careful reader calls two issues the same. Marks are incomplete, so it may
    lie above the marked share; below it would be a fault. `ece` is the expected calibration error over ten equal bins
    (Naeini et al., AAAI 2015), `ece_high` that of the bins from HIGH on. `brier_skill` is 1 - Brier score / that of the
    base rate: above 0 it beats a constant. None where there is nothing to compute it from.
    """

    answers: int
    answers_high: int
    ece: float
    ece_high: float | None
    brier_skill: float | None
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True)
class ThresholdOutcome:
    """What happens at the threshold `cut`. All but the shares are weighted numbers of issues.

    `right` counts comments that name a marked original, `precision` is their share (None without comments). `said` is
    how many name the same report first if the confidence holds; `wrong` how many name only what people called
    different. `caught` is the share of marked duplicates whose comment names an original, `false_alarms` the share of
    the other issues with a comment, right or wrong.
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
    """The arrivals that are marked as duplicates, and the others."""
    queries: list[JudgedArrival] = []
    silent: list[JudgedArrival] = []
    for one in judged:
        (silent if one.originals is None else queries).append(one)
    return queries, silent


def retrieval(judged: Iterable[JudgedArrival]) -> Retrieval:
    queries, _ = split(judged)
    ranks = [one.rank for one in queries]
    count = max(len(ranks), 1)
    rr = {k: sum(rank is not None and rank <= k for rank in ranks) / count for k in DEPTHS}
    return Retrieval(len(ranks), rr, sum(1 / rank for rank in ranks if rank) / count)


def confidence_calibration(judged: Iterable[JudgedArrival]) -> ConfidenceCalibration:
    tops = [(one.top, one.rank == 1, one.weight) for one in judged if one.found]
    high = [top for top in tops if top[0] >= HIGH]
    total = sum(weight for _, _, weight in tops)
    base = sum(right * weight for _, right, weight in tops) / total if tops else 0.0
    brier = sum(weight * (confidence - right) ** 2 for confidence, right, weight in tops)
    flat = sum(weight * (base - right) ** 2 for _, right, weight in tops)
    return ConfidenceCalibration(
        answers=len(tops),
        answers_high=len(high),
        ece=_error(bins_of(tops)),
        ece_high=_error(bins_of(high)) if high else None,
        brier_skill=1 - brier / flat if flat else None,
        bins=bins_of(tops),
    )


def bins_of(tops: Sequence[tuple[float, bool, float]]) -> tuple[CalibrationBin, ...]:
    """The non-empty tenths of the confidence, from (confidence, right, weight)."""
    members: list[list[tuple[float, bool, float]]] = [[] for _ in range(BINS)]
    for top in tops:
        members[min(BINS - 1, int(top[0] * BINS))].append(top)
    made = []
    for place, inside in enumerate(members):
        if weight := sum(one[2] for one in inside):
            confidence = sum(one[0] * one[2] for one in inside) / weight
            right = sum(one[1] * one[2] for one in inside) / weight
            made.append(CalibrationBin(place / BINS, len(inside), weight, confidence, right))
    return tuple(made)


def _error(bins: Sequence[CalibrationBin]) -> float:
    total = sum(one.weight for one in bins)
    return sum(one.weight * abs(one.confidence - one.right) for one in bins) / total if total else 0.0


def outcome_at(judged: Iterable[JudgedArrival], cut: float) -> ThresholdOutcome:
    """What happens if every candidate at or above `cut` is shown, five at most."""
    queries, silent = split(judged)
    right = sum(one.weight for one in queries if one.caught_until >= cut)
    told, alarmed = ([one for one in part if one.found and one.top >= cut] for part in (queries, silent))
    repeated, fresh = (sum(one.weight for one in part) for part in (queries, silent))
    bothered = sum(one.weight for one in alarmed)
    comments = sum(one.weight for one in told) + bothered
    return ThresholdOutcome(
        cut=cut,
        comments=comments,
        right=right,
        bothered=bothered,
        precision=right / comments if comments else None,
        caught=right / repeated if repeated else 0.0,
        false_alarms=bothered / fresh if fresh else 0.0,
        said=sum(one.weight * one.top for one in (*told, *alarmed)),
        wrong=sum(one.weight for one in (*told, *alarmed) if one.is_wrong(cut)),
    )


def threshold_for_share(judged: Iterable[JudgedArrival], share: float) -> float:
    """The lowest threshold, in thousandths, at which at most `share` of the unmarked issues get a comment."""
    _, silent = split(judged)
    return lowest_threshold(sorted((one.top for one in silent), reverse=True), share)


def lowest_threshold(tops: Sequence[float], share: float) -> float:
    """The same from the highest confidences of the unmarked issues, in falling order."""
    allowed = int(share * len(tops))
    return float(math.floor(tops[allowed] * _STEPS + 1 + _ROUNDING) / _STEPS) if allowed < len(tops) else 0.0


LISTED = 10
LEAST_LISTED = POSSIBLY
"""Anything less likely is below every threshold that somebody would set."""


@dataclass(frozen=True, slots=True)
class Unmarked:
    """An issue without a mark, and its first candidate."""

    id: Id
    candidate: Id
    confidence: float


def likeliest(judged: Iterable[JudgedArrival]) -> tuple[Unmarked, ...]:
    """Up to `LISTED` unmarked issues with a first candidate of at least `LEAST_LISTED`, likeliest and latest first.

    Pairs that people have decided about are left out: nobody needs to read them again.
    """
    silent = [one for one in split(judged)[1] if one.top >= LEAST_LISTED and one.found[0][0] not in one.different]
    silent.sort(key=lambda one: (one.top, one.arrived), reverse=True)
    return tuple(Unmarked(one.id, one.found[0][0], one.top) for one in silent[:LISTED])


def without_pairs(unmarked: Iterable[Unmarked], pairs: Collection[tuple[int, int]]) -> tuple[Unmarked, ...]:
    """`unmarked` without these pairs, in either order."""
    return tuple(one for one in unmarked if not {(one.id, one.candidate), (one.candidate, one.id)} & set(pairs))
