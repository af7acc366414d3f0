"""How candidates stand in their list: each kind of likeness beside that of the others, since how alike unrelated issues
are depends on the repository and on what is asked.

| feature | what it says |
|---|---|
| each of `features.NAMES` | as it is |
| `NAME, above` | standard deviations above the mean of the pool |
| `NAME, rank` | log of the rank in the pool, equals sharing the best; 0 for the first |
"""

from __future__ import annotations

import numpy as np

from bot.index.postings.packing import Floats
from bot.matching import features

#: The kinds of likeness that are compared with the rest of the pool.
_COMPARED = """
bm25 titles title_in_words words_in_title words_shared words_of_question rarest_five codes messages vector_title
vector_text vector_both ratio feedback
"""
COMPARED = tuple(_COMPARED.split())
NAMES = (
    *features.NAMES,
    *(f"{name}, above" for name in COMPARED),
    *(f"{name}, rank" for name in COMPARED),
)

# Values that agree to so many decimals are equal.
_DIGITS = 5

_COLUMNS = [features.NAMES.index(name) for name in COMPARED]


def standings(values: Floats) -> Floats:
    """(candidates, features.NAMES) to (candidates, NAMES)."""
    if not len(values):
        return np.zeros((0, len(NAMES)))
    compared = np.ascontiguousarray(values.T[_COLUMNS])
    apart = compared - compared.mean(axis=1, keepdims=True)
    above = apart / (np.sqrt((apart**2).mean(axis=1, keepdims=True)) + 1e-6)
    return np.hstack([values, above.T, np.log1p(_ranks(compared)).T])


def _ranks(rows: Floats) -> Floats:
    """Of each value how many of its row are above it."""
    # Products of vectors differ in their last digits from one number of threads to another; equals stay equals.
    rows = np.round(rows, _DIGITS)
    order = np.argsort(-rows, axis=1)
    ordered = np.take_along_axis(rows, order, axis=1)
    # The first of equals has its place for a rank, and the others have the same.
    places = np.arange(rows.shape[1], dtype=np.float64) * np.ones((len(rows), 1))
    places[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0
    ranks = np.empty_like(rows)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=1), axis=1)
    return ranks
