"""Compares each candidate's features with the rest of its list, because how alike unrelated issues are depends on the
repository and on the question.

| feature | what it says |
|---|---|
| each of `features.NAMES` | as it is |
| `NAME, above` | standard deviations above the mean of the pool |
| `NAME, rank` | log of the rank in the pool, equals sharing the best; 0 for the first |
"""

from __future__ import annotations

import numpy as np

from bot.search.index.packing import Floats
from bot.search.matching import features

#: The features that are compared with the rest of the pool.
_COMPARED = """
bm25 titles title_in_words words_in_title words_shared words_of_question rarest_five codes messages vector_title
vector_text vector_both ratio feedback
"""
COMPARED = tuple(_COMPARED.split())
RANKING_NAMES = (
    *features.NAMES,
    *(f"{name}, above" for name in COMPARED),
    *(f"{name}, rank" for name in COMPARED),
)

# Values that agree to this many decimals are equal.
_RANK_DIGITS = 5

_COLUMNS = [features.NAMES.index(name) for name in COMPARED]


def with_pool_ranks(values: Floats) -> Floats:
    """(candidates, features.NAMES) → (candidates, NAMES)."""
    if not len(values):
        return np.zeros((0, len(RANKING_NAMES)))
    compared = np.ascontiguousarray(values.T[_COLUMNS])
    apart = compared - compared.mean(axis=1, keepdims=True)
    above = apart / (np.sqrt((apart**2).mean(axis=1, keepdims=True)) + 1e-6)
    return np.hstack([values, above.T, np.log1p(_ranks(compared)).T])


def _ranks(rows: Floats) -> Floats:
    """For each value, how many of its row are above it."""
    # Products of vectors differ in their last digits with the number of threads; equal values must stay equal.
    rows = np.round(rows, _RANK_DIGITS)
    return np.stack([len(row) - np.searchsorted(np.sort(row), row, side="right") for row in rows]).astype(np.float64)
