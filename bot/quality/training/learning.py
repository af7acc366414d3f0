"""Learns `matching/weights.json`, by which the bot judges what the index finds, from files with known duplicates.

Each file is replayed: when an issue arrives, the index holds the issues before it. For each duplicate, and for a seeded
sample of the other issues, the candidates are looked up and marked as the same issue or not. Two models are fitted.

The first is the order, learned from the duplicates alone (`fitting.fit_order`). The second is the probability, learned
from the first five of each list (`fitting.fit_probability`), in repositories of any size: smaller ones are made of
large ones. The correction for small repositories is learned last and by itself, so that large ones do not change.

The probability sees lists in the order that was learned from other questions, as it will for new issues. An issue that
repeats nothing weighs as much as the issues it stands for, since nearly all new issues are no duplicates.

Files may lack authors, and so may a repository. Without an author a day's issues may be one person's series, so a
second probability is learned from the same arrivals without authors. The weights of `PRIOR_…` were set by hand and hold
where no file says better: a person who reports two things knows both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from bot.quality.training.arrivals import (
    TOO_FEW,
    Arrival,
    Progress,
    ReadCandidates,
    TrainingFile,
    collect,
    fit_readings,
)
from bot.quality.training.fitting import Fitted, fit_factor, fit_order, fit_probability
from bot.search.embedding.local import TextModel
from bot.search.index.arrays import Floats, Integers
from bot.search.matching import features, probability
from bot.search.matching.probability import CALIBRATION, CLOSEST, SMALLNESS, calibration
from bot.search.matching.weights import KNOWN, READ, UNKNOWN, shipped_text

#: Set by hand, see above.
PRIOR_ORDER = {"same_author": -1.0}
PRIOR_PROBABILITY = {**PRIOR_ORDER, "reported": -0.15}
L2_ORDER, L2_PROBABILITY, L2_CALIBRATION = 10.0, 100.0, 1.0
#: Candidates of one issue from which the probability is learned: those that a comment shows.
SHOWN = 5
#: The order is learned from whole repositories, and from these shares of them.
SMALL_SHARES = (0.03, 0.01)
#: The questions are cut into at least this many parts; each is ordered by weights learned from the others.
PARTS = 3


#: How much of the shrinking comes from leaving out the first issues, as an exponent of the share. Chosen by how well
#: probabilities held in two small trackers that were not learned from (docs/research/tried.md).
LATER = 0.25
#: All of it: nothing is left out at random.
LATER_ALONE = 1.0

#: The shares of a repository's issues that smaller ones keep.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)


def of_any_size(arrivals: Sequence[Arrival], seed: int, later: float = LATER) -> Iterator[tuple[int, Arrival]]:
    """The arrivals in repositories of any size, each with its place in `arrivals`, if it has any candidate left."""
    repeating = sum(bool(one.same.any()) for one in arrivals)
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng((seed, place))
        smaller = [thinned(arrival, share, rng, later) for arrival in arrivals]
        left = sum(one is not None and bool(one.same.any()) for one in smaller)
        for at, one in enumerate(smaller):
            if one is not None and len(one.same):
                # As many repeat something in small repositories as in large ones.
                more = repeating / left if one.same.any() else 1.0
                yield at, replace(one, stands_for=one.stands_for * more)


def thinned(arrival: Arrival, share: float, rng: np.random.Generator, later: float = LATER) -> Arrival | None:
    """The arrival in a repository that has this share of the issues; None if the issue that it repeats is not there.

    `later` in [0, 1] is how much of the shrinking comes from leaving out the first issues: at 0 all are left out at
    random, at 1 none. The issue that the arrival repeats is never left out at random: a smaller repository is about
    fewer things.
    """
    left = share**later
    there = arrival.back < arrival.earlier * left
    if arrival.same.any() and not arrival.same[there].any():
        return None
    kept = there & ((rng.random(len(arrival.same)) < share / left) | (arrival.same > 0))
    return replace(
        arrival,
        earlier=int(arrival.earlier * share),
        values=stretched(arrival.values[kept], 1 / left),
        back=arrival.back[kept],
        same=arrival.same[kept],
    )


@dataclass(frozen=True, slots=True)
class Order:
    """What orders candidates: learned from the `whole`, and for each part from the other parts."""

    whole: Fitted
    parts: Sequence[Fitted]


def learn(files: Sequence[TrainingFile], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """The data of `matching/weights.json`. Without readers' verdicts the last step is the shipped one."""
    each = [collect(one, progress, others=others, seed=seed) for one in files]
    arrivals = [[one for one in part if one.stands_for] for part in each]
    marked = fit_marked([one for part in arrivals for one in part], seed)
    return {
        "arrivals": sum(map(len, arrivals)),
        "ranking": marked.order.data(),
        KNOWN: marked.known.data(),
        UNKNOWN: marked.unknown.data(),
        READ: _readings(each, arrivals, marked, seed),
    }


@dataclass(frozen=True, slots=True)
class MarkModels:
    """What marks teach: the order, and how likely the first few are marked, with and without a known author."""

    order: Fitted
    known: ProbabilityModel
    unknown: ProbabilityModel

    def odds(self, arrival: Arrival, signed: bool) -> Floats:
        """The log-odds of each candidate of an arrival; -inf for one that ranks too low to be judged."""
        best, rows = _ranked(arrival, self.order)
        by = self.known if signed else self.unknown
        odds = np.full(len(best), -np.inf)
        marked = probability.calibration_rows(by.confidence.scores(rows), arrival.earlier)
        odds[best[: len(rows)]] = by.calibration.scores(marked)
        return odds


def fit_marked(arrivals: Sequence[Arrival], seed: int) -> MarkModels:
    """Learn from marks. Raises ValueError if nothing is known to be the same."""
    order = fit_orders(arrivals, seed)
    unknown = fit([anonymous(one) for one in arrivals], order, seed)
    return MarkModels(order.whole, fit(arrivals, order, seed), unknown)


def _readings(
    each: Sequence[Sequence[Arrival]], arrivals: Sequence[Sequence[Arrival]], marked: MarkModels, seed: int
) -> dict[str, object]:
    """Learn the last step, from the readers' verdicts on each file.

    The log-odds of a file come from models of the other files, as those of a new repository do; if the others have too
    few marks, from models of all files.
    """
    odds: list[Floats] = []
    reads: list[ReadCandidates] = []
    for place, part in enumerate(each):
        if not any(one.read for one in part):
            continue
        try:
            by = fit_marked([one for at, other in enumerate(arrivals) if at != place for one in other], seed)
        except ValueError:
            by = marked
        for small in (False, True):
            said = [(one, one.read) for one in part if one.read is not None and one.read.small is small]
            judged = [_judged(by.odds(one, read.signed), read) for one, read in said]
            # Each project counts the same, however many arrivals it has.
            total = sum(read.weight * len(read.same) for _, read in judged)
            odds += [own for own, _ in judged]
            reads += [replace(read, weight=read.weight / total) for _, read in judged]
    if not reads:
        shipped: dict[str, object] = json.loads(shipped_text())[READ]
        return shipped
    with_text, by_odds = fit_readings(odds, reads)
    return {"text model": TextModel().name, "with text": with_text.data(), "by odds": by_odds.data()}


def _judged(odds: Floats, read: ReadCandidates) -> tuple[Floats, ReadCandidates]:
    """The log-odds of the candidates that were read; in a small repository only of those that would be judged."""
    own = odds[read.likeness.rows]
    if not read.small:
        return own, read
    judged = np.isfinite(own)
    judged[np.argsort(-read.likeness.cosines, kind="stable")[:CLOSEST]] = True
    likeness = read.likeness.of(judged)
    return own[judged], replace(read, same=read.same[judged], likeness=likeness)


def fit_orders(arrivals: Sequence[Arrival], seed: int) -> Order:
    """Learn what orders candidates. Raises ValueError if nothing is known to be the same."""
    grown = [one for one in arrivals if not one.young]
    return Order(order_of(grown, seed), orders_of(grown, seed))


@dataclass(frozen=True, slots=True)
class FirstCandidates:
    """The first candidates of lists: (lists, CALIBRATION and SMALLNESS), whether each is the same, and its weight."""

    rows: Floats
    same: Floats
    weight: Floats

    @classmethod
    def of(cls, odds: Floats, earlier: Sequence[int], same: Floats, weight: Floats) -> FirstCandidates:
        """From the candidates' log-odds, and the number of issues before each question."""
        rows = [calibration(*one) for one in zip(odds.tolist(), earlier, strict=True)]
        return cls(np.array(rows).reshape(len(rows), len(CALIBRATION) + 1), same, weight)


def fit_calibration(firsts: FirstCandidates, small: FirstCandidates) -> Fitted:
    """How log-odds depend on the repository's size; `small` holds lists of small repositories, for SMALLNESS alone."""
    right = fit_probability(CALIBRATION, firsts.rows[:, :-1], firsts.same, firsts.weight, L2_CALIBRATION, {"odds": 1.0})
    return Fitted({**right.weights, SMALLNESS: smallness_of(small, right)}, right.intercept)


def smallness_of(firsts: FirstCandidates, right: Fitted) -> float:
    """The change of log-odds with each unit of `size.smallness`: at most 0, and 0 without small repositories."""
    small = firsts.rows[:, -1] > 0
    if not small.any():
        return 0.0
    rows = firsts.rows[small]
    odds = right.scores(rows[:, :-1])
    return min(0.0, fit_factor(rows[:, -1], odds, firsts.same[small], firsts.weight[small], L2_CALIBRATION))


@dataclass(frozen=True, slots=True)
class TopCandidates:
    """The first few candidates of one arrival: (candidates, features), and whether each is the same."""

    earlier: int
    rows: Floats
    same: Floats
    stands_for: float


@dataclass(frozen=True, slots=True)
class ProbabilityModel:
    """How likely the first few are marked, and the calibration by the repository's size."""

    confidence: Fitted
    calibration: Fitted

    def data(self) -> dict[str, object]:
        return {"confidence": self.confidence.data(), "calibration": self.calibration.data()}


def _firsts(lists: Sequence[TopCandidates], likely: Fitted) -> FirstCandidates:
    odds = likely.scores(np.array([one.rows[0] for one in lists]).reshape(-1, len(likely.weights)))
    same, weight = np.array([one.same[0] for one in lists]), np.array([one.stands_for for one in lists])
    return FirstCandidates.of(odds, [one.earlier for one in lists], same, weight)


def fit(arrivals: Sequence[Arrival], order: Order, seed: int) -> ProbabilityModel:
    """Learn how likely each of the first few, in this order, is marked as the same."""
    grown = [one for one in arrivals if not one.young]
    lists = ordered(grown, order.parts, seed)
    small = [_leaders(one, order.whole) for one in arrivals if one.young]
    small += ordered(grown, order.parts, seed, LATER_ALONE)
    rows, same = np.vstack([one.rows for one in lists]), np.concatenate([one.same for one in lists])
    weight = np.repeat([one.stands_for for one in lists], [len(one.same) for one in lists])
    likely = fit_probability(probability.CONFIDENCE_NAMES, rows, same, weight, L2_PROBABILITY, PRIOR_PROBABILITY)
    return ProbabilityModel(likely, fit_calibration(_firsts(lists, likely), _firsts(small, likely)))


def order_of(arrivals: Sequence[Arrival], seed: int) -> Fitted:
    """Learn one order, from smaller repositories too. Raises ValueError if nothing is known to be the same."""
    rng = np.random.default_rng(seed)
    smaller = [thinned(arrival, share, rng) for share in SMALL_SHARES for arrival in arrivals]
    lists = [one for one in (*arrivals, *smaller) if one is not None and one.same.any()]
    if not lists:
        raise ValueError(TOO_FEW)
    rows = np.vstack([features.with_pool_ranks(one.values) for one in lists])
    same = np.concatenate([one.same for one in lists])
    return fit_order(features.RANKING_NAMES, rows, same, [len(one.same) for one in lists], L2_ORDER, PRIOR_ORDER)


def orders_of(arrivals: Sequence[Arrival], seed: int) -> list[Fitted]:
    """For each part, learn its order from the other parts. An arrival's part is its place modulo their number.

    There are PARTS parts, or more if all duplicates would be in one. Raises ValueError for fewer than two duplicates.
    """
    repeating = [place for place, one in enumerate(arrivals) if one.same.any()]
    if len(repeating) < 2:
        raise ValueError(TOO_FEW)
    parts = next(number for number in count(PARTS) if len({place % number for place in repeating}) > 1)
    others = ([one for place, one in enumerate(arrivals) if place % parts != part] for part in range(parts))
    return [order_of(part, seed) for part in others]


def ordered(
    arrivals: Sequence[Arrival], orders: Sequence[Fitted], seed: int, later: float = LATER
) -> list[TopCandidates]:
    """The first few of each list, in repositories of any size, ordered by `orders_of`; `later` as in `thinned`."""
    return [_leaders(one, orders[at % len(orders)]) for at, one in of_any_size(arrivals, seed, later)]


def _ranked(arrival: Arrival, order: Fitted) -> tuple[Integers, Floats]:
    """The places of an arrival's candidates, best first, and `confidence.rows`."""
    scores = order.scores(features.with_pool_ranks(arrival.values))
    best = np.argsort(-scores, kind="stable")
    return best, probability.confidence_rows(arrival.values[best], scores[best], arrival.earlier)


def _leaders(arrival: Arrival, order: Fitted) -> TopCandidates:
    best, rows = _ranked(arrival, order)
    return TopCandidates(arrival.earlier, rows[:SHOWN], arrival.same[best[:SHOWN]], arrival.stands_for)


_AT = {name: place for place, name in enumerate(features.NAMES)}
_TIMES = [_AT[name] for name in ("days", "closed_days", "lived_days")]
# The features for issues that came within this many days of each other.
_WITHIN = {"within_a_day": 1, "within_a_week": 7}


def stretched(values: Floats, factor: float) -> Floats:
    """The features of candidates if all times were `factor` times as long."""
    values = values.copy()
    values[:, _TIMES] = np.log1p(np.expm1(values[:, _TIMES]) * factor)
    for name, near in _near(values).items():
        values[:, _AT[name]] *= near
    return values


def anonymous(arrival: Arrival) -> Arrival:
    """The arrival if no author were known: issues close in time may then be one person's series."""
    values = arrival.values.copy()
    values[:, [_AT["same_author"], _AT["reported"]]] = 0.0
    for name, near in _near(values).items():
        values[:, _AT[name]] = near
    return replace(arrival, values=values)


def _near(values: Floats) -> dict[str, Floats]:
    """By feature, which candidates came that close to the question."""
    # Exactly a day or a week is not within it, as in `features`; rounding must not change that.
    days = np.expm1(values[:, _AT["days"]]) + 1e-9
    return {name: (days < longest).astype(np.float64) for name, longest in _WITHIN.items()}
