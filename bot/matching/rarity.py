"""How rare terms are in a repository: what makes a shared one evidence.

A term's rarity is its inverse document frequency divided by the largest that there can be, in (0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.index import View, idf
from bot.index.postings.packing import Floats, Integers
from bot.matching.pool import FIELDS
from bot.ranking.size import SMALL

_LOW_COUNTS = 4_096


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare terms are in one repository: `counts` by field and term's number, of `total` issues.

    `own` are the terms, in order, of an issue that is left out of these: its own words are no evidence about it, and it
    is judged as if it were not there yet. `average_length` is that of the others' words.
    """

    total: int
    counts: Mapping[str, NDArray[np.int32]]
    own: Mapping[str, Integers]
    average_length: float

    @classmethod
    def of(cls, view: View, without: int = 0) -> Rarity:
        """Of a repository, without the issue of this number, if it is there."""
        there = bool(view.issues([without]))
        own, length = {}, None
        if there:
            bags = dict(zip(FIELDS, view.terms(np.array([without]), *FIELDS), strict=True))
            own = {field: np.sort(bag.terms.astype(np.int64)) for field, bag in bags.items()}
            length = int(bags["words"].counts.sum(dtype=np.int64))
        counts = {name: view.frequencies(name) for name in FIELDS}
        return cls(view.count - there, counts, own, view.average_length("words", length))

    def __call__(self, field: str, terms: NDArray[Any]) -> Floats:
        """The rarity of each term, by its number; 1 for one that is new."""
        counts = self.counts[field]
        if not len(terms) or not len(counts):
            return np.ones(len(terms))
        # One that only other fields have is as rare as can be without being new.
        seen = np.maximum(counts.take(terms, mode="clip"), 1)
        # A text's new terms have negative numbers; those of an issue that was added just now may be too high.
        if terms.max() >= len(counts) or (terms.dtype.kind == "i" and terms.min() < 0):
            seen = np.where((terms >= 0) & (terms < len(counts)), seen, 0)
        own = self.own.get(field)
        if own is not None and len(own):
            places = np.minimum(np.searchsorted(own, terms), len(own) - 1)
            seen = np.maximum(seen - (own[places] == terms), 0)
        total = max(self.total, SMALL)
        usual = _rarities(total)
        rarity: Floats = usual.take(seen, mode="clip")
        if seen.max() >= len(usual):
            often = np.flatnonzero(seen >= len(usual))
            rarity[often] = idf(total, seen[often]) / idf(total, np.zeros(1))
        return rarity


@lru_cache(maxsize=16)
def _rarities(total: int) -> Floats:
    """The rarity of terms that occur in 0, 1, 2, … of so many issues, of the lower counts alone, which most have."""
    return idf(total, np.arange(_LOW_COUNTS)) / float(idf(total, np.zeros(1))[0])
