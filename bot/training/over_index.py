"""Makes `matching/weights.json`, by which what the index finds is judged, from files with known duplicates.

Every file is replayed as it happened: when an issue arrives, the index holds what came before it. For each duplicate
and for a seeded sample of the other issues the candidates are looked up and marked as the same issue or not. Two models
are fitted, one after the other.

The order is learned from the duplicates alone (`fitting.fit_order`). The probability is learned from the first five of
each list (`fitting.fit_probability`), in repositories of any size: smaller ones are made of large ones (`smaller.py`).
How much less to believe in small ones is learned last and by itself (`probability.py`): from smaller repositories of
which nothing is left out by chance, and from a repository's first issues, which came when it was small itself.

The lists that these two see are ordered by weights that were learned without them, as those of new issues are. Issues
that repeat nothing weigh as many as they stand for: nearly all new issues are no duplicates, and a probability that
forgets it is wrong.

Files may lack authors, and so may the repository that is judged. Where it is not known who asks, a day's issues may be
one person's series, and the probability is another: it is learned a second time, from the same arrivals as if nobody
knew who wrote what. The weights of `PRIOR_…` were set by hand, and are what the features keep where no file can say
better: who reports two things knows both and reports two things, and who has reported much knows what is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from bot.embedding import TextModel
from bot.index.postings.packing import Floats
from bot.matching import confidence, standing
from bot.matching.model import KNOWN, READ, UNKNOWN, shipped_data
from bot.matching.readings import CLOSEST
from bot.training.arrival import Arrival
from bot.training.collecting import TOO_FEW, Material, Progress, collect_all
from bot.training.fitting import Fitted, fit_order
from bot.training.probability import SHOWN, Leaders, Probability, fit_leaders
from bot.training.readings import Read, fit_readings
from bot.training.smaller import LATER, LATER_ALONE, anonymous, of_any_size, thinned

#: Set by hand, see above.
PRIOR_ORDER = {"same_author": -1.0}
PRIOR_PROBABILITY = {**PRIOR_ORDER, "reported": -0.15}
L2_ORDER, L2_PROBABILITY = 10.0, 100.0
#: What is left of a repository in those from which the order is learned, besides the whole.
SMALL_SHARES = (0.03, 0.01)
#: Parts of the questions that are ordered by weights of the other parts, at least.
PARTS = 3


@dataclass(frozen=True, slots=True)
class Order:
    """What orders candidates: the `whole`, and for each of some parts what was learned from the others."""

    whole: Fitted
    parts: Sequence[Fitted]


def learn(files: Sequence[Material], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `matching/weights.json`. Without readings the last step is taken from the shipped weights."""
    each = collect_all(files, progress, others=others, seed=seed)
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
class Marked:
    """What is learned from marks: the order, and how likely the first few are marked, the author known or not."""

    order: Fitted
    known: Probability
    unknown: Probability

    def odds(self, arrival: Arrival, signed: bool) -> Floats:
        """The log-odds of each candidate of an arrival, in their order; -inf for what ranks too low to be judged."""
        scores = self.order.scores(standing.standings(arrival.values))
        best = np.argsort(-scores, kind="stable")
        rows = confidence.rows(arrival.values[best], scores[best], arrival.earlier)
        by = self.known if signed else self.unknown
        odds = np.full(len(scores), -np.inf)
        told = by.confidence.scores(rows)
        calibrated = by.calibration.scores(confidence.calibration(told, arrival.earlier))
        odds[best[: len(rows)]] = calibrated
        return odds


def fit_marked(arrivals: Sequence[Arrival], seed: int) -> Marked:
    """All that is learned from marks. Raises ValueError where nothing is known to be the same."""
    order = fit_orders(arrivals, seed)
    unknown = fit([anonymous(one) for one in arrivals], order, seed)
    return Marked(order.whole, fit(arrivals, order, seed), unknown)


def _readings(
    each: Sequence[Sequence[Arrival]], arrivals: Sequence[Sequence[Arrival]], marked: Marked, seed: int
) -> dict[str, object]:
    """The last step, from what was read of each file.

    The log-odds of a file are by what was learned from the others, as those of a new repository are; of a single file,
    and of those without which there are too few marks, by what was learned from all.
    """
    odds: list[Floats] = []
    reads: list[Read] = []
    for place, part in enumerate(each):
        if not any(one.read for one in part):
            continue
        try:
            by = fit_marked([one for at, other in enumerate(arrivals) if at != place for one in other], seed)
        except ValueError:
            by = marked
        for small in (False, True):
            said = [(one, one.read) for one in part if one.read is not None and one.read.small is small]
            told = [_told(by.odds(one, read.signed), read) for one, read in said]
            # Each project says as much as every other, however many arrivals it has.
            total = sum(read.weight * len(read.same) for _, read in told)
            odds += [own for own, _ in told]
            reads += [replace(read, weight=read.weight / total) for _, read in told]
    if not reads:
        shipped: dict[str, object] = shipped_data()[READ]
        return shipped
    with_text, by_odds = fit_readings(odds, reads)
    return {"text model": TextModel().name, "with text": with_text.data(), "by odds": by_odds.data()}


def _told(odds: Floats, read: Read) -> tuple[Floats, Read]:
    """The log-odds of the candidates that were read; in a small repository of those that would be judged there."""
    own = odds[read.likeness.rows]
    if not read.small:
        return own, read
    judged = np.isfinite(own)
    judged[np.argsort(-read.likeness.cosines, kind="stable")[:CLOSEST]] = True
    likeness = read.likeness.of(judged)
    return own[judged], replace(read, same=read.same[judged], likeness=likeness)


def fit_orders(arrivals: Sequence[Arrival], seed: int) -> Order:
    """What orders candidates, whoever wrote them. Raises ValueError where nothing is known to be the same."""
    grown = [one for one in arrivals if not one.young]
    return Order(order_of(grown, seed), orders_of(grown, seed))


def fit(arrivals: Sequence[Arrival], order: Order, seed: int) -> Probability:
    """How likely what is ordered so is the same."""
    grown = [one for one in arrivals if not one.young]
    lists = ordered(grown, order.parts, seed)
    small = [_leaders(one, order.whole) for one in arrivals if one.young]
    small += ordered(grown, order.parts, seed, LATER_ALONE)
    return fit_leaders(confidence.NAMES, lists, small, L2_PROBABILITY, PRIOR_PROBABILITY)


def order_of(arrivals: Sequence[Arrival], seed: int) -> Fitted:
    """What orders candidates, in small repositories too: among a handful, what tells two hundred apart says little.

    Raises ValueError where nothing is known to be the same.
    """
    rng = np.random.default_rng(seed)
    smaller = [thinned(arrival, share, rng) for share in SMALL_SHARES for arrival in arrivals]
    told = [one for one in (*arrivals, *smaller) if one is not None and one.same.any()]
    if not told:
        raise ValueError(TOO_FEW)
    rows = np.vstack([standing.standings(one.values) for one in told])
    same = np.concatenate([one.same for one in told])
    return fit_order(standing.NAMES, rows, same, [len(one.same) for one in told], L2_ORDER, PRIOR_ORDER)


def orders_of(arrivals: Sequence[Arrival], seed: int) -> list[Fitted]:
    """For each part what orders it, learned from the others; an arrival's part is its place modulo how many there are.

    These are PARTS, or more where what repeats something comes in such a rhythm that all of it would be in one. Raises
    ValueError where it is in one however many there are.
    """
    repeating = [place for place, one in enumerate(arrivals) if one.same.any()]
    if len(repeating) < 2:
        raise ValueError(TOO_FEW)
    parts = next(number for number in count(PARTS) if len({place % number for place in repeating}) > 1)
    others = ([one for place, one in enumerate(arrivals) if place % parts != part] for part in range(parts))
    return [order_of(part, seed) for part in others]


def ordered(arrivals: Sequence[Arrival], orders: Sequence[Fitted], seed: int, later: float = LATER) -> list[Leaders]:
    """The first few of each list, in repositories of any size.

    `orders` are those of `orders_of`, `later` is how smaller ones are made (`smaller.py`).
    """
    return [_leaders(one, orders[at % len(orders)]) for at, one in of_any_size(arrivals, seed, later)]


def _leaders(arrival: Arrival, order: Fitted) -> Leaders:
    scores = order.scores(standing.standings(arrival.values))
    best = np.argsort(-scores, kind="stable")
    rows = confidence.rows(arrival.values[best], scores[best], arrival.earlier)[:SHOWN]
    return Leaders(arrival.earlier, rows, arrival.same[best[:SHOWN]], arrival.stands_for)
