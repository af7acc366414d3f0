"""Learns `bot/search/matching/weights.json` from files of issues in which duplicates are marked.

Training replays each file: when an issue arrives, the index holds all earlier issues. Training looks up candidates, and
compares them with the marks: for a file's first issues, for each duplicate, and for a seeded sample of unmarked issues
(`others`). A sampled issue's weight is the number of issues that it represents. Training fits two models to the marks.

The first model is the order of the candidates, learned only from duplicates (`fitting.fit_order`). The second model is
the probability that a candidate is marked (`fitting.fit_probability`), learned from each issue's first five candidates.
Training makes small repositories out of large ones, to learn for any size. A correction for small repositories
(`SMALLNESS`) is fitted afterwards and separately, so that it does not affect large ones. A last step, learned from
readers' verdicts, turns the odds of a mark into the confidence (P1).

Some files and some repositories lack authors. For these, training learns a second probability from
the same arrivals without authors. The weights in `PRIOR_…` were set by hand. Training stays close to them unless the
files show otherwise. These weights concern the author, and are negative: people rarely repeat themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bot.quality.training.arrivals import (
    TOO_FEW,
    Arrival,
    Progress,
    ReadCandidates,
    TrainingFile,
    collect,
    collect_read,
    fit_readings,
)
from bot.quality.training.fitting import Fitted, fit_factor, fit_order, fit_probability
from bot.search.embedding.local_models import TextModel
from bot.search.index.arrays import Floats, Integers
from bot.search.matching import features, probability
from bot.search.matching.probability import CALIBRATION, CLOSEST, SMALLNESS, calibration
from bot.search.matching.weights import KNOWN, READ, UNKNOWN, shipped_text

PRIOR_ORDER = {"same_author": -1.0}
PRIOR_PROBABILITY = {**PRIOR_ORDER, "reported": -0.15}
L2_ORDER, L2_PROBABILITY, L2_CALIBRATION = 10.0, 100.0, 1.0
#: The probability is learned from each issue's first candidates, as many as a command shows (P6).
SHOWN = 5
#: The order is learned from whole repositories, and from repositories reduced to these shares.
SMALL_SHARES = (0.03, 0.01)
#: Arrivals are split into at least this many parts. An order learned from the other parts sorts a part's candidates.
PARTS = 3

#: `thinned` reduces a repository to a `share` of its issues. First it leaves out the oldest, and keeps share**LATER of
#: all issues. Then it leaves out others at random. docs/research/tried.md compares other values of LATER.
LATER = 0.25
#: With this value instead of LATER, `thinned` leaves out only the oldest issues.
LATER_ONLY = 1.0

#: The probability is learned from repositories reduced to these shares.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)


def of_any_size(arrivals: Sequence[Arrival], seed: int, later: float = LATER) -> Iterator[tuple[int, Arrival]]:
    """For each of SHARES: the `thinned` arrivals that have candidates, each with its position in `arrivals`."""
    duplicates = sum(bool(one.same.any()) for one in arrivals)
    for number, share in enumerate(SHARES):
        rng = np.random.default_rng((seed, number))
        smaller = [thinned(arrival, share, rng, later) for arrival in arrivals]
        remaining = sum(one is not None and bool(one.same.any()) for one in smaller)
        for at, one in enumerate(smaller):
            if one is not None and len(one.same):
                # Keep the total weight of duplicates the same in repositories of all sizes.
                factor = duplicates / remaining if one.same.any() else 1.0
                yield at, replace(one, stands_for=one.stands_for * factor)


def thinned(arrival: Arrival, share: float, rng: np.random.Generator, later: float = LATER) -> Arrival | None:
    """The arrival in a repository reduced to this share of the issues; None if its original is too old to keep.

    `later` (0 to 1) says which issues are left out: at 0 random ones, at 1 the oldest ones.
    The original is never left out at random, because small repositories have the same share of duplicates.
    """
    # First keep the latest issues: `period` is their share of all. Then keep some of these at random: `share` of all.
    period = share**later
    recent = arrival.back < arrival.earlier * period
    if arrival.same.any() and not arrival.same[recent].any():
        return None
    kept = recent & ((rng.random(len(arrival.same)) < share / period) | (arrival.same > 0))
    return replace(
        arrival,
        earlier=int(arrival.earlier * share),
        # The remaining issues cover part of the time (`period`). Stretch their times accordingly.
        values=stretched(arrival.values[kept], 1 / period),
        back=arrival.back[kept],
        same=arrival.same[kept],
    )


@dataclass(frozen=True, slots=True)
class Order:
    """`whole` is the order learned from all parts. `parts` has an order for each part, learned from the other parts.

    A repository's first arrivals (`Arrival.young`) are left out.
    """

    whole: Fitted
    parts: Sequence[Fitted]


def learn(files: Sequence[TrainingFile], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """The data of `weights.json`. Without readers' verdicts, the last step is copied from the shipped weights."""
    by_file = [collect(one, progress, others=others, seed=seed) for one in files]
    marked = fit_marked([one for collected in by_file for one in collected], seed)
    return {
        "arrivals": sum(map(len, by_file)),
        "ranking": marked.order.data(),
        KNOWN: marked.known.data(),
        UNKNOWN: marked.unknown.data(),
        READ: _readings(files, by_file, marked, progress, seed),
    }


@dataclass(frozen=True, slots=True)
class MarkModels:
    """The models learned from marks: the order, and the probability of a mark with and without known authors."""

    order: Fitted
    known: ProbabilityModel
    unknown: ProbabilityModel

    def odds(self, arrival: Arrival, signed: bool) -> Floats:
        """Each candidate's log-odds; -inf for candidates after the first LEADERS. `signed`: the author is known."""
        best, rows = _ranked(arrival, self.order)
        model = self.known if signed else self.unknown
        # `rows` has only the leaders: the first positions in `best`.
        odds = np.full(len(best), -np.inf)
        calibration_inputs = probability.calibration_rows(model.confidence.scores(rows), arrival.earlier)
        odds[best[: len(rows)]] = model.calibration.scores(calibration_inputs)
        return odds


def fit_marked(arrivals: Sequence[Arrival], seed: int) -> MarkModels:
    """Learn from marks. Raises ValueError with fewer than two known duplicates."""
    order = fit_orders(arrivals, seed)
    unknown = fit([anonymous(one) for one in arrivals], order, seed)
    return MarkModels(order.whole, fit(arrivals, order, seed), unknown)


def _readings(
    files: Sequence[TrainingFile],
    by_file: Sequence[Sequence[Arrival]],
    marked: MarkModels,
    progress: Progress,
    seed: int,
) -> dict[str, object]:
    """Learn the last step from the readers' verdicts on each file.

    A file's order and log-odds come from models that were learned from the other files, because the weights must work
    for unknown repositories. If the other files have too few marks, the models are learned from all files.
    """
    odds: list[Floats] = []
    reads: list[ReadCandidates] = []
    for at, file in enumerate(files):
        if file.readings is None:
            continue
        others = [*by_file[:at], *by_file[at + 1 :]]
        try:
            models = fit_marked([one for arrivals in others for one in arrivals], seed)
        except ValueError:
            models = marked
        collected = collect_read(file, models.order, progress, seed)
        for small in (False, True):
            chosen = [
                _rated(models.odds(arrival, read.signed), read) for arrival, read in collected if read.small is small
            ]
            # The candidates in the file weigh 1 in total. Those in small repositories made from the file also weigh 1.
            total = sum(read.weight * len(read.same) for _, read in chosen)
            odds += [log_odds for log_odds, _ in chosen]
            reads += [replace(read, weight=read.weight / total) for _, read in chosen]
    if not reads:
        shipped: dict[str, object] = json.loads(shipped_text())[READ]
        return shipped
    with_text, by_odds = fit_readings(odds, reads)
    return {"text model": TextModel().name, "with text": with_text.data(), "by odds": by_odds.data()}


def _rated(odds: Floats, read: ReadCandidates) -> tuple[Floats, ReadCandidates]:
    """The candidates' log-odds, and `read`. In a small repository, keeps only candidates that get a probability."""
    log_odds = odds[read.likeness.rows]
    if not read.small:
        return log_odds, read
    rated = np.isfinite(log_odds)
    # The leaders get a probability, and so do the text model's closest candidates, however low these rank.
    rated[np.argsort(-read.likeness.cosines, kind="stable")[:CLOSEST]] = True
    likeness = read.likeness.of(rated)
    return log_odds[rated], replace(read, same=read.same[rated], likeness=likeness)


def fit_orders(arrivals: Sequence[Arrival], seed: int) -> Order:
    """Learn the order of candidates. Raises ValueError with fewer than two known duplicates."""
    grown = [one for one in arrivals if not one.young]
    return Order(order_of(grown, seed), orders_of(grown, seed))


@dataclass(frozen=True, slots=True)
class FirstCandidates:
    """The best candidate of each list: `rows` has its features, and `same` is 1 if it is marked, else 0.

    The features of CALIBRATION combine the candidate's log-odds with the repository's size. After them comes
    SMALLNESS, which is above 0 only in small repositories.
    """

    rows: Floats
    same: Floats
    weight: Floats

    @classmethod
    def of(cls, odds: Floats, earlier: Sequence[int], same: Floats, weight: Floats) -> FirstCandidates:
        """Build the rows from the candidates' log-odds and the number of issues before each arrival (`earlier`)."""
        rows = [calibration(log_odds, total) for log_odds, total in zip(odds.tolist(), earlier, strict=True)]
        return cls(np.array(rows).reshape(len(rows), len(CALIBRATION) + 1), same, weight)


def fit_calibration(firsts: FirstCandidates, small: FirstCandidates) -> Fitted:
    """Learn how log-odds depend on the repository's size. SMALLNESS is learned only from `small`."""
    by_size = fit_probability(
        CALIBRATION, firsts.rows[:, :-1], firsts.same, firsts.weight, L2_CALIBRATION, {"odds": 1.0}
    )
    return Fitted({**by_size.weights, SMALLNESS: smallness_of(small, by_size)}, by_size.intercept)


def smallness_of(firsts: FirstCandidates, by_size: Fitted) -> float:
    """The weight of SMALLNESS in the log-odds. It is at most 0, and it is 0 without small repositories."""
    is_small = firsts.rows[:, -1] > 0
    if not is_small.any():
        return 0.0
    rows = firsts.rows[is_small]
    odds = by_size.scores(rows[:, :-1])
    return min(0.0, fit_factor(rows[:, -1], odds, firsts.same[is_small], firsts.weight[is_small], L2_CALIBRATION))


@dataclass(frozen=True, slots=True)
class TopCandidates:
    """An arrival's first candidates: `rows` has their features, and `same` is 1 for a marked candidate, else 0."""

    earlier: int
    rows: Floats
    same: Floats
    stands_for: float


@dataclass(frozen=True, slots=True)
class ProbabilityModel:
    """`confidence` gives a top candidate's log-odds of a mark; `calibration` adjusts them to the repository's size."""

    confidence: Fitted
    calibration: Fitted

    def data(self) -> dict[str, object]:
        return {"confidence": self.confidence.data(), "calibration": self.calibration.data()}


def _firsts(lists: Sequence[TopCandidates], confidence: Fitted) -> FirstCandidates:
    odds = confidence.scores(np.array([one.rows[0] for one in lists]).reshape(-1, len(confidence.weights)))
    same, weight = np.array([one.same[0] for one in lists]), np.array([one.stands_for for one in lists])
    return FirstCandidates.of(odds, [one.earlier for one in lists], same, weight)


def fit(arrivals: Sequence[Arrival], order: Order, seed: int) -> ProbabilityModel:
    """Learn the probability that each of the first few candidates, in this order, is marked as the same."""
    grown = [one for one in arrivals if not one.young]
    lists = ordered(grown, order.parts, seed)
    # `order.whole` can sort the candidates of young arrivals, because it was not learned from these arrivals.
    small = [_top_candidates(one, order.whole) for one in arrivals if one.young]
    small += ordered(grown, order.parts, seed, LATER_ONLY)
    rows, same = np.vstack([one.rows for one in lists]), np.concatenate([one.same for one in lists])
    weight = np.repeat([one.stands_for for one in lists], [len(one.same) for one in lists])
    confidence = fit_probability(probability.CONFIDENCE_NAMES, rows, same, weight, L2_PROBABILITY, PRIOR_PROBABILITY)
    return ProbabilityModel(confidence, fit_calibration(_firsts(lists, confidence), _firsts(small, confidence)))


def order_of(arrivals: Sequence[Arrival], seed: int) -> Fitted:
    """Learn one order, from `arrivals` and from smaller repositories. Raises ValueError without known duplicates."""
    rng = np.random.default_rng(seed)
    smaller = [thinned(arrival, share, rng) for share in SMALL_SHARES for arrival in arrivals]
    lists = [one for one in (*arrivals, *smaller) if one is not None and one.same.any()]
    if not lists:
        raise ValueError(TOO_FEW)
    rows = np.vstack([features.with_pool_ranks(one.values) for one in lists])
    same = np.concatenate([one.same for one in lists])
    return fit_order(features.RANKING_NAMES, rows, same, [len(one.same) for one in lists], L2_ORDER, PRIOR_ORDER)


def orders_of(arrivals: Sequence[Arrival], seed: int) -> list[Fitted]:
    """For each part, learn an order from the other parts. An arrival's part is its position modulo the number of parts.

    Adds parts until two parts have duplicates. Raises ValueError with fewer than two duplicates.
    """
    duplicates = [at for at, one in enumerate(arrivals) if one.same.any()]
    if len(duplicates) < 2:
        raise ValueError(TOO_FEW)
    parts = PARTS
    while len({at % parts for at in duplicates}) < 2:
        parts += 1
    others = ([one for at, one in enumerate(arrivals) if at % parts != part] for part in range(parts))
    return [order_of(rest, seed) for rest in others]


def ordered(
    arrivals: Sequence[Arrival], orders: Sequence[Fitted], seed: int, later: float = LATER
) -> list[TopCandidates]:
    """For each arrival from `of_any_size`, the first few candidates, sorted by `orders`. `later` is as in `thinned`."""
    return [_top_candidates(one, orders[at % len(orders)]) for at, one in of_any_size(arrivals, seed, later)]


def _ranked(arrival: Arrival, order: Fitted) -> tuple[Integers, Floats]:
    """The positions of an arrival's candidates, best first, and the `confidence_rows` of the first LEADERS."""
    scores = order.scores(features.with_pool_ranks(arrival.values))
    best = np.argsort(-scores, kind="stable")
    return best, probability.confidence_rows(arrival.values[best], scores[best], arrival.earlier)


def _top_candidates(arrival: Arrival, order: Fitted) -> TopCandidates:
    best, rows = _ranked(arrival, order)
    return TopCandidates(arrival.earlier, rows[:SHOWN], arrival.same[best[:SHOWN]], arrival.stands_for)


_AT = {name: at for at, name in enumerate(features.NAMES)}
_TIMES = [_AT[name] for name in ("days", "closed_days", "lived_days")]
# Each feature is 1 if two issues are fewer days apart than this, and may be by one person.
_WITHIN = {"within_a_day": 1, "within_a_week": 7}


def stretched(values: Floats, factor: float) -> Floats:
    """The features of candidates after multiplying all times by `factor`."""
    values = values.copy()
    # Times are stored as log(1 + days).
    values[:, _TIMES] = np.log1p(np.expm1(values[:, _TIMES]) * factor)
    for name, still_near in _near(values).items():
        values[:, _AT[name]] *= still_near
    return values


def anonymous(arrival: Arrival) -> Arrival:
    """The arrival as if nobody knew the authors. Then one person may have written any two issues close in time."""
    values = arrival.values.copy()
    values[:, [_AT["same_author"], _AT["reported"]]] = 0.0
    for name, near in _near(values).items():
        values[:, _AT[name]] = near
    return replace(arrival, values=values)


def _near(values: Floats) -> dict[str, Floats]:
    """For each `_WITHIN` feature, whether each candidate is that close in time to the new issue: 1 or 0."""
    # A distance of exactly a day or a week does not count, as in `features`. Adding a little protects against rounding.
    days = np.expm1(values[:, _AT["days"]]) + 1e-9
    return {name: (days < longest).astype(np.float64) for name, longest in _WITHIN.items()}
