"""Scores for postings: inverse document frequency, BM25, and a sum that falls with the field's length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.search.index.packing import Floats, Integers

#: Takes the counts of a term and the lengths of the fields, and gives a score for each posting.
Scoring = Callable[[Floats, Floats], Floats]


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
    return lambda counts, lengths: counts * (k1 + 1) / (lengths * by_length + least + counts)


def binary(offset: float = 1.0) -> Scoring:
    """Each term counts once, and less in a long field: 1 / √(offset + length)."""
    return lambda _, lengths: 1.0 / np.sqrt(lengths + offset)


@dataclass(frozen=True, slots=True)
class Scores:
    """Issues that share a term with the query, by ascending number.

    `complete` is False if lists were left out because they were too long to be read.
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
    """Sum up the scores of each number under `below`. All scores are above zero."""
    sums = np.bincount(numbers, weights=scores).astype(np.float64, copy=False)
    found = np.flatnonzero(sums)
    sums = sums[found]
    if below is not None:
        end = np.searchsorted(found, below)
        found, sums = found[:end], sums[:end]
    return Scores(found, sums, complete)
