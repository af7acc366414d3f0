"""Makes `matching/weights.json`, by which what the index finds is judged, from files with known duplicates.

Every file is replayed as it happened: when an issue arrives, the index holds what came before it. For each duplicate
and for a seeded sample of the other issues the candidates are looked up and marked as the same issue or not. Two models
are fitted, one after the other.

The order is learned from the duplicates alone (`fitting.fit_order`). The probability is learned from the first five of
each list (`fitting.fit_probability`), in repositories of any size: smaller ones are made of large ones (`smaller.py`).
How much less to believe in small ones is learned last and by itself (`calibration.py`): from smaller repositories of
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

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from bot.embedding import choose_embedder
from bot.index import Index, TextAnalyser
from bot.index.ephemeral import ephemeral_index
from bot.index.postings.packing import Floats, Integers
from bot.matching import Matcher, confidence, standing
from bot.matching.model import KNOWN, UNKNOWN
from bot.model import Issue
from bot.replay import Mirror, PastIssue, ReplayGitHub
from bot.training.arrival import Arrival
from bot.training.collecting import TOO_FEW, Progress, Repository, collect_all
from bot.training.fitting import Fitted, fit_order
from bot.training.otherwise import anonymous, shrunk
from bot.training.probability import SHOWN, Leaders, Probability, fit_leaders
from bot.training.smaller import LATER, LATER_ALONE, of_any_size, thinned

#: Set by hand, see above.
PRIOR_ORDER = {"same_author": -1.0}
PRIOR_PROBABILITY = {**PRIOR_ORDER, "reported": -0.15}
L2_ORDER, L2_PROBABILITY = 10.0, 100.0
#: What is left of a repository in those from which the order is learned, besides the whole.
SMALL_SHARES = (0.03, 0.01)
#: Parts of the questions that are ordered by weights of the other parts, at least.
PARTS = 3

_REPO = 1


@dataclass(frozen=True, slots=True)
class Order:
    """What orders candidates: the `whole`, and for each of some parts what was learned from the others."""

    whole: Fitted
    parts: Sequence[Fitted]


def learn(files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `matching/weights.json`."""
    arrivals = collect_all(opened, files, progress, others=others, seed=seed)
    order = fit_orders(arrivals, seed)
    known = fit(arrivals, order, seed)
    unknown = fit([anonymous(one) for one in arrivals], order, seed)
    return {
        "arrivals": len(arrivals),
        "ranking": order.whole.data(),
        KNOWN: known.data(),
        UNKNOWN: unknown.data(),
    }


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


@contextmanager
def opened() -> Iterator[Repository]:
    """An empty repository with an index."""
    with ephemeral_index(TextAnalyser(), choose_embedder()) as index:
        yield _Indexed(index)


class _Indexed:
    """What has arrived is put into the index where something is compared, many at once."""

    def __init__(self, index: Index) -> None:
        self._github = ReplayGitHub(searchable=False)
        self._mirror, self._matcher = Mirror(index, _REPO), Matcher(index)
        self._waiting: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        self._mirror.put(self._waiting)
        self._mirror.follow(self._github)
        self._waiting = []
        with self._matcher.looking(_REPO, issue, below=issue.number) as look:
            return look.compared()

    def keep(self, issue: Issue) -> None:
        self._waiting.append(issue)


def order_of(arrivals: Sequence[Arrival], seed: int) -> Fitted:
    """What orders candidates, in small repositories too: among a handful, what tells two hundred apart says little.

    Raises ValueError where nothing is known to be the same.
    """
    rng = np.random.default_rng(seed)
    smaller = [thinned(arrival, share, rng, shrunk) for share in SMALL_SHARES for arrival in arrivals]
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
    return [_leaders(one, orders[at % len(orders)]) for at, one in of_any_size(arrivals, seed, shrunk, later)]


def _leaders(arrival: Arrival, order: Fitted) -> Leaders:
    scores = order.scores(standing.standings(arrival.values))
    best = np.argsort(-scores, kind="stable")
    rows = confidence.rows(arrival.values[best], scores[best], arrival.earlier)[:SHOWN]
    return Leaders(arrival.earlier, rows, arrival.same[best[:SHOWN]], arrival.stands_for)
