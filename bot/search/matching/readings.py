"""The probability that a careful reader of both texts calls them the same report (P1).

People who mark duplicates miss most of them, so the log-odds of `confidence.py` say only how likely a pair is *marked*.
A logistic regression corrects this by what careful readers said of a few thousand pairs, and by the text model (a stack
of two, Wolpert, 1992). It has few weights, since there are few readings (docs/research/accuracy.md).

| feature | what it says |
|---|---|
| `odds` | in a large repository, the log-odds that somebody marks the pair |
| `odds in a small repository` | the same in a small one, where two reports of one thing may share no rare word |
| `text` | the cosine of both texts by the text model (`bot/search/embedding/local.py`) |
| `stands out` | in a small repository, how far that cosine is above those of either text's other neighbours |

The last is twice the cosine, less the third best cosine of each of the two with any other issue, as in cross-domain
similarity local scaling (Conneau and others, 2018, "Word translation without parallel data"). Among two hundred issues,
a likeness that no other pair comes near tells more than shared words do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.domain.likelihood import HIGHEST
from bot.search.index.packing import Floats, Integers

Vector = NDArray[np.float32]

#: The features with the text model, and without it.
WITH_TEXT = ("odds", "odds in a small repository", "text", "stands out")
BY_ODDS = ("odds",)

#: Set by hand: from this many issues on a repository is not small at all; from the second number down, it is fully so.
LARGE, SMALLEST = 2_000, 60

#: In a small repository this many issues that the text model finds closest are judged, whatever their words say.
CLOSEST = 5

# The least probability; candidates below it keep the order of the ranking.
_LOWEST = 1e-4
# With a cosine of the text model, log-odds beyond these add nothing. A small repository has its own lower bound.
_LEAST, _LEAST_IN_SMALL, _MOST_ODDS = -8.0, -3.0, 4.0
# Without one, few pairs that were read lie beyond this.
_FAR = 6.0
# The neighbour that shows how close others come; nearer ones may report the same thing. A missing neighbour, or one
# farther away than unrelated texts of one project, counts as this cosine.
_NEIGHBOUR, _USUAL_COSINE = 3, 0.3


class TextSimilarity(NamedTuple):
    """The text model's view of some `rows` of a pool: their `cosines` with the question, and how each `stands_out`."""

    rows: Integers
    cosines: Floats
    stands_out: Floats
    smallness: float

    def of(self, which: Any) -> TextSimilarity:
        """Some of its rows, by a mask or a slice."""
        return TextSimilarity(self.rows[which], self.cosines[which], self.stands_out[which], self.smallness)


def rows_with_text(odds: Floats, likeness: TextSimilarity) -> Floats:
    """(candidates, WITH_TEXT)."""
    large = np.clip(odds, _LEAST, _MOST_ODDS) * (1 - likeness.smallness)
    small = np.clip(odds, _LEAST_IN_SMALL, _MOST_ODDS) * likeness.smallness
    return np.stack([large, small, likeness.cosines, likeness.stands_out], axis=1)


def rows_by_odds(odds: Floats) -> Floats:
    """(candidates, BY_ODDS)."""
    return np.clip(odds, -_FAR, _FAR)[:, None]


def smallness(total: int) -> float:
    """From 0, in a repository of LARGE issues or more, to 1, in one of SMALLEST."""
    return min(1.0, max(0.0, math.log(LARGE / max(total, 1)) / math.log(LARGE / SMALLEST)))


def stands_out(own: Vector, vectors: Vector, places: Integers, total: int) -> Floats:
    """How far the candidates at `places` of `vectors` stand out, in a repository of `total` issues.

    `vectors` is (issues, dimensions), of length one, and `own` is the question's vector.
    """
    with_own = vectors @ own
    around = np.array([_neighbour(with_own, place) for place in places.tolist()])
    beyond = np.array([_neighbour(vectors @ vectors[place], place) for place in places.tolist()])
    return np.asarray((2 * with_own[places] - around - beyond) * smallness(total), dtype=np.float64)


def _neighbour(cosines: Vector, without: int) -> float:
    others = np.append(np.delete(cosines, without), [_USUAL_COSINE] * _NEIGHBOUR)
    return float(np.partition(others, -_NEIGHBOUR)[-_NEIGHBOUR])


def bounded_probability(log_odds: Floats) -> Floats:
    """In [.0001, .98]: two readers agree in 98 of 100 pairs, and nothing is surer than they are."""
    return np.asarray(np.clip(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))), _LOWEST, HIGHEST), dtype=np.float64)
