"""Turns a ranking into probabilities, in three learned steps. `weights.py` has one model for the first two steps.

The question is the issue for which duplicates are sought. All its candidates form the pool. The ranking's scores order
one pool, but cannot be compared between pools. So the first step uses each score relative to its pool, and features
that mean the same in every pool (`CONFIDENCE_NAMES`). From these, the step predicts the log-odds that somebody *marks*
the question and the candidate as duplicates:

| feature | what it says |
|---|---|
| `lead` | the score above the background (the mean score of ranks 6 to 25) |
| `behind` | the score minus the first candidate's score |
| `ahead` | only for the first candidate: its score minus the second's |
| `mass` | the candidate's share in a softmax of the pool's scores |
| `spread` | entropy of that softmax: high if many candidates are equally good |
| `firsts` | in what share of the `COMPARED` features the candidate has the highest value of the pool |
| `size` | log of the number of issues, fifty if fewer (the more issues, the more of them match by chance) |
| `question_length` | log of the number of words in the question |
| `most NAME` | the highest value of a feature in the pool |
| `usual NAME` | the mean of a feature among the best five |
| … | the candidate's own features, as in `features.py`; `days` and `closed_days` are at most a year |

The second step calibrates the log-odds by the repository's size (`CALIBRATION`). In a small
repository, related tasks look like duplicates, so `SMALLNESS` lowers the log-odds.

People who mark duplicates miss most of them. So the third step predicts the probability that a careful reader calls a
pair the same report (P1). Readers judged a few thousand pairs, enough for few weights only (docs/research/accuracy.md).
If there is a text model (`embedding/local_models.py`), its cosine counts, too (stacking: Wolpert, 1992). In this step,
the smallness is 0 for a large repository and 1 for a very small one (by `smallness`, not by `log_smallness`):

| feature | what it says |
|---|---|
| `odds` | the log-odds that somebody marks the pair, times 1 - smallness: 0 in a very small repository |
| `odds in a small repository` | the log-odds times smallness |
| `text` | the text model's cosine of the pair, minus a share of the usual cosine: 0.5 * (1 - smallness) |
| `stands out` | in a small repository, how much closer the two texts are to each other than to other issues |
| `small repository` | the smallness; the share of duplicates depends on the repository's size |

The usual cosine is the median of the leaders' cosines (`LEADERS`). In some projects, the model finds any two texts
alike: this median is .49 on golang-go, .35 on monero. The share 0.5, set by hand, cuts log loss on four new trackers by
4 %. `stands out` is smallness * (2 * cosine - a - b). Here a and b are each text's third best cosine with other issues
of the pool (cross-domain similarity local scaling: Conneau and others, 2018, "Word translation without parallel data").
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.domain.likelihood import HIGHEST
from bot.search.index.arrays import Floats, Integers
from bot.search.matching import features
from bot.search.matching.features import COMPARED, SMALL

SMALL_BELOW = 3_000
"""For the calibration, a repository of fewer issues counts as small; set by hand."""

CALIBRATION = ("odds", "odds by size", "size")

SMALLNESS = "smallness"
"""The calibration's last feature (`log_smallness`). Its weight is learned last, and only from small repositories."""


def log_size(total: int) -> float:
    """The logarithm of the number of issues, at least `SMALL`."""
    return math.log(max(total, SMALL))


def calibration(odds: float, total: int) -> tuple[float, ...]:
    """The values of CALIBRATION and SMALLNESS for log-odds in a repository of `total` issues."""
    tenth = log_size(total) / 10
    return odds, odds * tenth, tenth, log_smallness(total)


def log_smallness(total: int) -> float:
    """How small a repository of `total` issues is: from 0 for a large one to 4.1 for fifty issues or fewer."""
    return max(0.0, math.log(SMALL_BELOW) - log_size(total))


LEADERS = 20
"""This many of the best candidates get a probability. In a small repository, up to CLOSEST more may get one."""

BACKGROUND = slice(5, 25)
"""The ranks (from 0) whose mean score is the background: the usual score of unrelated issues."""

LEAST_BACKGROUND = 3
"""If the background has fewer candidates, all candidates but the first form the background."""

ALONE = 3.0
"""If a pool has only one candidate, the background is this much below the candidate's score."""

#: The features for `most NAME` and for `usual NAME`.
MOST = ("words_shared", "vector_both", "vector_title", "titles", "codes", "messages", "hub", "rarest_five")
USUAL = ("words_shared", "vector_both", "titles", "days", "hub")
CONFIDENCE_NAMES = (
    "lead",
    "behind",
    "ahead",
    "mass",
    "spread",
    "firsts",
    "size",
    "question_length",
    *(f"most {name}" for name in MOST),
    *(f"usual {name}" for name in USUAL),
    *features.NAMES,
)

# Columns of `features.NAMES`.
_AT = {name: at for at, name in enumerate(features.NAMES)}
_MOST, _USUAL, _COMPARED = ([_AT[name] for name in names] for names in (MOST, USUAL, COMPARED))
_TIMES, _YEAR = [_AT["days"], _AT["closed_days"]], np.log1p(365.0)
_BEST_FEW = 5


def calibration_rows(odds: Floats, total: int) -> Floats:
    """The result of `calibration` for each of the log-odds, one row each."""
    return np.array([calibration(one, total) for one in odds.tolist()])


def confidence_rows(values: Floats, scores: Floats, total: int) -> Floats:
    """The leaders' features, (leaders, CONFIDENCE_NAMES). `values`, (candidates, features.NAMES), come best first."""
    leaders = min(LEADERS, len(scores))
    background = scores[BACKGROUND]
    if len(background) < LEAST_BACKGROUND:
        background = scores[1:] if len(scores) > 1 else scores - ALONE
    background_mean = float(background.mean())
    second = scores[1] if len(scores) > 1 else background_mean
    shares = np.exp(scores - scores[0])
    shares /= shares.sum()
    own, best = values[:leaders].copy(), scores[:leaders]
    own[:, _TIMES] = np.minimum(own[:, _TIMES], _YEAR)
    # Both are logarithms. `length` is the candidate's, and `shorter` is the question's minus the candidate's.
    question_length = own[:, _AT["length"]] + own[:, _AT["shorter"]]
    # In the order of CONFIDENCE_NAMES; a single number holds for all leaders.
    columns = (
        best - background_mean,
        best - scores[0],
        np.concatenate([[scores[0] - second], np.zeros(leaders - 1)]),
        shares[:leaders],
        -(shares * np.log(shares + 1e-12)).sum(),
        (own[:, _COMPARED] >= values[:, _COMPARED].max(axis=0)).mean(axis=1),
        log_size(total),
        question_length,
        *values[:, _MOST].max(axis=0),
        *own[:_BEST_FEW, _USUAL].mean(axis=0),
    )
    return np.column_stack([*(np.broadcast_to(column, leaders) for column in columns), own])


Vector = NDArray[np.float32]

#: The third step's features with the text model, and without it.
WITH_TEXT = ("odds", "odds in a small repository", "text", "stands out", "small repository")
BY_ODDS = ("odds",)

#: Set by hand: a repository of LARGE issues or more has smallness 0, one of SMALLEST or fewer has smallness 1.
LARGE, SMALLEST = 2_000, 60

#: In a small repository, this many candidates with the highest cosines are judged too, even if they share few words.
CLOSEST = 5

_LOWEST = 1e-4
# With the text model, log-odds are cut to these bounds. The floor is higher in a small repository: two
# reports may share no rare word there, so low log-odds say little.
_ODDS_FLOOR, _ODDS_FLOOR_IN_SMALL, _ODDS_CEILING = -8.0, -3.0, 4.0
# Log-odds are cut at ± this bound without a text model; few of the readers' pairs lie beyond it.
_ODDS_BOUND = 6.0
# A text's third best cosine shows how close other issues come: the closest two may be duplicates.
# The third counts as at least _UNRELATED_COSINE, the usual cosine of unrelated texts in a project.
_NEIGHBOUR, _UNRELATED_COSINE = 3, 0.3
# This part of the leaders' usual cosine is subtracted from a candidate's cosine.
_USUAL_PART = 0.5


class TextSimilarity(NamedTuple):
    """How the text model compares the question with some `rows` of a pool, in a repository of this `smallness`.

    `cosines` and `stands_out` have a value for each row. `usual` is the leaders' median cosine (`usual_cosine`).
    """

    rows: Integers
    cosines: Floats
    stands_out: Floats
    smallness: float
    usual: float

    def of(self, which: Any) -> TextSimilarity:
        """The similarity of only these rows, chosen by a mask or a slice."""
        rows, cosines, stands_out = (array[which] for array in (self.rows, self.cosines, self.stands_out))
        return TextSimilarity(rows, cosines, stands_out, self.smallness, self.usual)


def rows_with_text(odds: Floats, likeness: TextSimilarity) -> Floats:
    """The third step's features with the text model, (candidates, WITH_TEXT)."""
    largeness, smallness = 1 - likeness.smallness, likeness.smallness
    large = np.clip(odds, _ODDS_FLOOR, _ODDS_CEILING) * largeness
    small = np.clip(odds, _ODDS_FLOOR_IN_SMALL, _ODDS_CEILING) * smallness
    text = likeness.cosines - _USUAL_PART * likeness.usual * largeness
    return np.stack([large, small, text, likeness.stands_out, np.full(len(odds), smallness)], axis=1)


def rows_by_odds(odds: Floats) -> Floats:
    """The third step's feature without the text model, (candidates, BY_ODDS)."""
    return np.clip(odds, -_ODDS_BOUND, _ODDS_BOUND)[:, None]


def smallness(total: int) -> float:
    """0 for LARGE issues or more, 1 for SMALLEST or fewer, logarithmic in between. Not the calibration's SMALLNESS."""
    return min(1.0, max(0.0, math.log(LARGE / max(total, 1)) / math.log(LARGE / SMALLEST)))


def stands_out(own: Vector, vectors: Vector, rows: Integers, total: int) -> Floats:
    """How far the candidates at `rows` of `vectors` stand out, in a repository of `total` issues.

    `vectors` is (issues, dimensions), each of length one, and `own` is the question's vector.
    """
    with_own = vectors @ own
    near_own = np.array([_neighbour_cosine(with_own, row) for row in rows.tolist()])
    near_theirs = np.array([_neighbour_cosine(vectors @ vectors[row], row) for row in rows.tolist()])
    return np.asarray((2 * with_own[rows] - near_own - near_theirs) * smallness(total), dtype=np.float64)


def usual_cosine(of_leaders: Vector) -> float:
    """The median of LEADERS cosines. A missing leader counts with _UNRELATED_COSINE."""
    return float(np.median([*of_leaders, *[_UNRELATED_COSINE] * (LEADERS - len(of_leaders))]))


def _neighbour_cosine(cosines: Vector, ignored: int) -> float:
    """The third highest cosine, at least _UNRELATED_COSINE. Leaves out the row `ignored`."""
    others = np.append(np.delete(cosines, ignored), [_UNRELATED_COSINE] * _NEIGHBOUR)
    return float(np.partition(others, -_NEIGHBOUR)[-_NEIGHBOUR])


def non_increasing(values: Floats) -> Floats:
    """The non-increasing sequence that is closest to `values` by least squares; it has the same mean.

    The method is isotonic regression by pooling adjacent violators (Barlow, Bartholomew, Bremner and Brunk,
    "Statistical inference under order restrictions", 1972).
    """
    # Each block's mean and size.
    blocks: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while blocks and blocks[-1][0] < mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    return np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])


def bounded_probability(log_odds: Floats) -> Floats:
    """Probabilities in [.0001, .98]: two readers agree in 98 of 100 pairs, and the bot is never surer than that."""
    return np.asarray(np.clip(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))), _LOWEST, HIGHEST), dtype=np.float64)
