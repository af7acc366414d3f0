"""How postings become scores: inverse document frequency, BM25 and a plain sum by length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.index.postings.packing import Floats, Integers

#: From how often a term occurs in a field, and how long the field is, to what the posting counts; all arrays.
Scoring = Callable[[Floats, Floats], Floats]


# Where numbers are so many times higher than there are of them, they are sorted.
_SPARSE = 8
_PLACE, _PLACES = np.uint64(32), np.uint64((1 << 32) - 1)


def idf(total: int, issues: NDArray[Any]) -> Floats:
    """ln(1 + (N - n + ½) / (n + ½)), which is never negative: Lucene's form of BM25's inverse document frequency."""
    seen = np.minimum(issues, total)
    return np.asarray(np.log1p((total - seen + 0.5) / (seen + 0.5)), dtype=np.float64)


def bm25(average_length: float, k1: float = 1.2, b: float = 0.6) -> Scoring:
    """BM25's saturation of the count, normalised by length.

    Over a field whose counts are sums of other fields' weighted counts this is BM25F (Robertson, Zaragoza and Taylor,
    "Simple BM25 extension to multiple weighted fields", 2004).
    """

    least, by_length = k1 * (1 - b), k1 * b / average_length

    def score(counts: Floats, lengths: Floats) -> Floats:
        # In place, since there are tens of thousands of postings.
        spread = lengths * by_length
        spread += least
        spread += counts
        return np.divide(counts * (k1 + 1), spread, out=spread)

    return score


def shared(offset: float = 1.0) -> Scoring:
    """Terms count once each, and less in a long field: 1 / √(offset + length)."""

    def score(counts: Floats, lengths: Floats) -> Floats:
        roots = np.sqrt(lengths + offset)
        return np.divide(1.0, roots, out=roots)

    return score


def distinct(values: Integers) -> Integers:
    """Each value once, ascending: a quarter of the time of `np.unique`, for some hundreds of them."""
    ordered = np.sort(values)
    kept: Integers = ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]
    return kept


@dataclass(frozen=True, slots=True)
class Scores:
    """Issues that share a term with the query, by ascending number.

    `complete` is False where lists were left out because they were longer than what may be read.
    """

    numbers: Integers
    scores: Floats
    complete: bool = True

    def best(self, k: int) -> Scores:
        """The k best, best first, older ones first among equals."""
        if len(self.scores) > k:
            # Everything as good as the k-th, so that ties are broken by age and not by chance.
            least = np.partition(self.scores, -k)[-k]
            picked = np.flatnonzero(self.scores >= least)
        else:
            picked = np.arange(len(self.scores))
        order = picked[np.lexsort((self.numbers[picked], -self.scores[picked]))][:k]
        return Scores(self.numbers[order], self.scores[order], self.complete)


def add_up(numbers: Integers, scores: Floats, below: int | None, complete: bool) -> Scores:
    """The sum for each number under `below`. All scores are above zero.

    In an array as long as the highest number, unless that is so long that sorting takes less time: the cost is bounded
    by how many scores there are, however large the repository is.
    """
    if int(numbers.max(initial=0)) > _SPARSE * len(numbers):
        found, sums = _by_sorting(numbers, scores)
    else:
        sums = np.bincount(numbers, weights=scores).astype(np.float64, copy=False)
        found = np.flatnonzero(sums)
        sums = sums[found]
    if below is not None:
        end = np.searchsorted(found, below)
        found, sums = found[:end], sums[:end]
    return Scores(found, sums, complete)


def _by_sorting(numbers: Integers, scores: Floats) -> tuple[Integers, Floats]:
    """The distinct numbers, ascending, and the sum for each. There must be some."""
    # Each with its place behind it in one number: numbers are sorted several times as fast as their places.
    keys = numbers.astype(np.uint64) << _PLACE | np.arange(len(numbers), dtype=np.uint64)
    keys.sort()
    ordered = (keys >> _PLACE).astype(np.int64)
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[first], np.add.reduceat(scores.take((keys & _PLACES).astype(np.int64)), first)
