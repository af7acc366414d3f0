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

from bot.index.packing import Floats
from bot.matching import features

#: The kinds of likeness that are compared with the rest of the pool.
COMPARED = (
    "bm25",
    "titles",
    "title_in_words",
    "words_in_title",
    "words_shared",
    "words_of_question",
    "rarest_five",
    "codes",
    "messages",
    "vector_title",
    "vector_text",
    "vector_both",
    "ratio",
    "feedback",
)
NAMES = (
    *features.NAMES,
    *(f"{name}, above" for name in COMPARED),
    *(f"{name}, rank" for name in COMPARED),
)

_COLUMNS = [features.NAMES.index(name) for name in COMPARED]


def standings(values: Floats) -> Floats:
    """(candidates, features.NAMES) to (candidates, NAMES)."""
    compared = values[:, _COLUMNS]
    above = (compared - compared.mean(axis=0)) / (compared.std(axis=0) + 1e-6) if len(values) else compared
    ordered = np.sort(-compared, axis=0)
    ranks = [np.searchsorted(column, one) for column, one in zip(ordered.T, -compared.T, strict=True)]
    return np.hstack([values, above, np.log1p(np.array(ranks, dtype=np.float64).T)])
