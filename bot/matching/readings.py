"""From marks to readings (P1): the probability that a careful reader of both texts calls them the same report.

Who marks duplicates misses most of them, so the log-odds of `confidence.py` say only how likely a pair gets *marked*.
What careful readers said of a few thousand pairs puts that right, together with what the text model sees, by logistic
regression (a stack of two, Wolpert, 1992). Few weights learn the most from few readings (docs/research/accuracy.md).

| feature | what it says |
|---|---|
| `odds` | in a large repository, the log-odds that somebody marks the pair |
| `odds in a small repository` | the same in a small one, where two reports of one thing may share no rare word |
| `text` | the cosine of both texts by the text model (`bot/embedding/local.py`) |
| `stands out` | in a small repository, how far that cosine is above those of either text's other neighbours |

The last is twice the cosine less the third best cosine of each of the two with any other issue, as in cross-domain
similarity local scaling (Conneau and others, 2018, "Word translation without parallel data"): among two hundred issues
a likeness that nothing else comes near tells more than any words that both have.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.index.postings.packing import Floats, Integers
from bot.likelihood import HIGHEST

Vector = NDArray[np.float32]

#: With the text model, and where there is none.
WITH_TEXT = ("odds", "odds in a small repository", "text", "stands out")
BY_ODDS = ("odds",)

#: A repository of so many issues or more is not small, by hand; those of the second number are as small as any is.
LARGE, SMALLEST = 2_000, 60

#: So many of a small repository's issues that the text model finds closest are judged, however little their words say.
CLOSEST = 5

# Candidates that are less likely count as this, and keep the order of the ranking.
_LOWEST = 1e-4
# Beside a cosine of the text model, log-odds beyond these say nothing more. A small repository has its own lower bound.
_LEAST, _LEAST_IN_SMALL, _MOST = -8.0, -3.0, 4.0
# Alone they do, but few pairs that were read lie beyond this.
_FAR = 6.0
# Which neighbour of a text says how close others come: with the first few it may share what they report. One that is
# missing, or farther away than unrelated texts of one project are, counts as this cosine.
_NEIGHBOUR, _USUAL = 3, 0.3


class Likeness(NamedTuple):
    """What the text model says of some `rows` of a pool: the `cosines` with the question, and how each `stands_out`.

    `smallness` is the repository's.
    """

    rows: Integers
    cosines: Floats
    stands_out: Floats
    smallness: float

    def of(self, which: Any) -> Likeness:
        """Some of it, by a mask or a slice."""
        return Likeness(self.rows[which], self.cosines[which], self.stands_out[which], self.smallness)


def rows_with_text(odds: Floats, likeness: Likeness) -> Floats:
    """(candidates, WITH_TEXT)."""
    large = np.clip(odds, _LEAST, _MOST) * (1 - likeness.smallness)
    small = np.clip(odds, _LEAST_IN_SMALL, _MOST) * likeness.smallness
    return np.stack([large, small, likeness.cosines, likeness.stands_out], axis=1)


def rows_by_odds(odds: Floats) -> Floats:
    """(candidates, BY_ODDS)."""
    return np.clip(odds, -_FAR, _FAR)[:, None]


def smallness(total: int) -> float:
    """From 0, in a repository of LARGE issues or more, to 1, in one of SMALLEST."""
    return min(1.0, max(0.0, math.log(LARGE / max(total, 1)) / math.log(LARGE / SMALLEST)))


def stands_out(own: Vector, vectors: Vector, places: Integers, total: int) -> Floats:
    """How far some candidates stand out, in a repository of `total` issues.

    `vectors` are (issues, dimensions), of length one, of all that the candidates are among, `own` is the question's,
    and `places` are the candidates' rows.
    """
    with_own = vectors @ own
    around = np.array([_neighbour(with_own, place) for place in places.tolist()])
    beyond = np.array([_neighbour(vectors @ vectors[place], place) for place in places.tolist()])
    return np.asarray((2 * with_own[places] - around - beyond) * smallness(total), dtype=np.float64)


def _neighbour(cosines: Vector, without: int) -> float:
    others = np.append(np.delete(cosines, without), [_USUAL] * _NEIGHBOUR)
    return float(np.partition(others, -_NEIGHBOUR)[-_NEIGHBOUR])


def probability(log_odds: Floats) -> Floats:
    """In [.0001, .98]: two readers agree in 98 of 100 pairs, and nothing is surer than they are."""
    return np.asarray(np.clip(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))), _LOWEST, HIGHEST), dtype=np.float64)
