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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bot.embedding import choose_embedder
from bot.evaluation.labels import Labels, read_labels, to_learn_from
from bot.index import TextAnalyser
from bot.index.ephemeral import ephemeral_index
from bot.index.packing import Floats
from bot.matching import Matcher, confidence, standing
from bot.matching.model import KNOWN, UNKNOWN
from bot.model import Issue
from bot.replay import Mirror, ReplayGitHub, read_archive
from bot.replay.archive import PastIssue
from bot.training.arrival import Arrival, anonymous
from bot.training.beginning import beginning, grown_from
from bot.training.calibration import Firsts, fit_calibration
from bot.training.collecting import TOO_FEW, Progress, collect_all
from bot.training.fitting import Fitted, fit_order, fit_probability
from bot.training.smaller import LATER, LATER_ALONE, thinned

#: Set by hand, see above.
PRIOR_ORDER = {"same_author": -1.0}
PRIOR_PROBABILITY = {**PRIOR_ORDER, "reported": -0.15}
L2_ORDER, L2_PROBABILITY = 10.0, 100.0
#: Candidates of one issue from which the probability is learned: those that a comment shows.
SHOWN = 5
#: What is left of a repository's issues when a smaller one is made of it.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
#: The same for those from which the order is learned, besides the whole.
SMALL_SHARES = (0.03, 0.01)
#: Parts of the questions that are ordered by weights of the other parts.
PARTS = 3

_REPO = 1


@dataclass(frozen=True, slots=True)
class Leaders:
    """The first few of one arrival's list: (leaders, confidence.NAMES), and whether each is the same."""

    earlier: int
    rows: Floats
    same: Floats
    stands_for: float


@dataclass(frozen=True, slots=True)
class Order:
    """What orders candidates: the `whole`, and for each of PARTS what was learned from the others."""

    whole: Fitted
    parts: Sequence[Fitted]


@dataclass(frozen=True, slots=True)
class Probability:
    """How likely the first few are, and what makes that hold in repositories of any size."""

    confidence: Fitted
    calibration: Fitted

    def data(self) -> dict[str, object]:
        """As it is written into a file of weights."""
        return {"confidence": self.confidence.data(), "calibration": self.calibration.data()}


def learn(files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `matching/weights.json`."""
    arrivals = collect_all(partial(collect, others=others, seed=seed), files, progress)
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
    likely = probability_of(lists)
    small = [_leaders(one, order.whole, one.stands_for) for one in arrivals if one.young and len(one.same)]
    small += ordered(grown, order.parts, seed, LATER_ALONE)
    return Probability(likely, fit_calibration(_firsts(lists, likely), _firsts(small, likely)))


def collect(path: Path, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """What one file has to teach."""
    issues, labels = read_archive(path), read_labels(path)
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    return list(_looked_at(issues, labels, chosen, progress))


def _looked_at(
    issues: Sequence[PastIssue], labels: Labels, chosen: Mapping[int, float], progress: Progress
) -> Iterator[Arrival]:
    """The chosen issues in order; those without candidates teach nothing."""
    progress(len(chosen), 0)
    grown = grown_from(issues)
    github = ReplayGitHub(searchable=False)
    with ephemeral_index(TextAnalyser(), choose_embedder()) as index:
        mirror, matcher = Mirror(index, _REPO), Matcher(index)
        waiting: list[Issue] = []
        for position, past in enumerate(issues):
            issue = github.arrive(past)
            if position in chosen:
                mirror.put(waiting)
                mirror.follow(github)
                waiting = []
                with matcher.looking(_REPO, issue, below=issue.number) as look:
                    numbers, values = look.compared()
                group = labels.group[past.id]
                same = [float(labels.group[issues[number - 1].id] == group) for number in numbers.tolist()]
                if same:
                    back, young = position - numbers, position < grown
                    yield Arrival(position, values, back, np.array(same), chosen[position], young)
                progress(0, 1)
            waiting.append(issue)


def order_of(arrivals: Sequence[Arrival], seed: int) -> Fitted:
    """What orders candidates, in small repositories too: among a handful, what tells two hundred apart says little.

    Raises ValueError where nothing is known to be the same.
    """
    rng = np.random.default_rng(seed)
    smaller = [thinned(arrival, share, rng) for share in SMALL_SHARES for arrival in arrivals]
    told = [one for one in (*arrivals, *smaller) if one is not None and one.same.any()]
    if not told:
        raise ValueError(TOO_FEW)
    rows = np.vstack([one.standings() for one in told])
    same = np.concatenate([one.same for one in told])
    return fit_order(standing.NAMES, rows, same, [len(one.same) for one in told], L2_ORDER, PRIOR_ORDER)


def orders_of(arrivals: Sequence[Arrival], seed: int) -> list[Fitted]:
    """For each of PARTS what orders it, learned from the others; an arrival's part is its place modulo PARTS."""
    parts = [[one for place, one in enumerate(arrivals) if place % PARTS != part] for part in range(PARTS)]
    return [order_of(part, seed) for part in parts]


def ordered(arrivals: Sequence[Arrival], orders: Sequence[Fitted], seed: int, later: float = LATER) -> list[Leaders]:
    """The first few of each list, in repositories of any size.

    `orders` are those of `orders_of`, `later` is how smaller ones are made (`smaller.py`).
    """
    repeating = sum(bool(one.same.any()) for one in arrivals)
    lists = []
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng((seed, place))
        smaller = [(thinned(arrival, share, rng, later), orders[at % PARTS]) for at, arrival in enumerate(arrivals)]
        left = sum(one is not None and bool(one.same.any()) for one, _ in smaller)
        for one, order in smaller:
            if one is not None and len(one.same):
                # As many repeat something in small repositories as in large ones.
                stands_for = one.stands_for * (repeating / left if one.same.any() else 1.0)
                lists.append(_leaders(one, order, stands_for))
    return lists


def _leaders(arrival: Arrival, order: Fitted, stands_for: float) -> Leaders:
    scores = order.scores(arrival.standings())
    best = np.argsort(-scores, kind="stable")
    rows = confidence.rows(arrival.values[best], scores[best], arrival.earlier)[:SHOWN]
    return Leaders(arrival.earlier, rows, arrival.same[best][: len(rows)], stands_for)


def probability_of(lists: Sequence[Leaders]) -> Fitted:
    """How likely the first few are."""
    rows, same = np.vstack([one.rows for one in lists]), np.concatenate([one.same for one in lists])
    weight = np.repeat([one.stands_for for one in lists], [len(one.same) for one in lists])
    return fit_probability(confidence.NAMES, rows, same, weight, L2_PROBABILITY, PRIOR_PROBABILITY)


def _firsts(lists: Sequence[Leaders], likely: Fitted) -> Firsts:
    odds = likely.scores(np.array([one.rows[0] for one in lists]).reshape(-1, len(confidence.NAMES)))
    same, weight = np.array([one.same[0] for one in lists]), np.array([one.stands_for for one in lists])
    return Firsts.of(odds, [one.earlier for one in lists], same, weight)
