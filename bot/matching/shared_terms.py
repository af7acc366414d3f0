"""What the terms of a question and its candidates have in common, by their rarity; `features.py` lists the columns.

A term's rarity is its inverse document frequency divided by the largest that there can be, in (0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.index import Terms, View, idf
from bot.index.postings.packing import Floats, Integers
from bot.matching.retrieval import FIELDS, Pool, Question
from bot.ranking.size import SMALL


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


_LOW_COUNTS = 4_096
_TITLE, _WORDS, _CODES, _MESSAGES = range(len(FIELDS))
_LOW = 0xFFFF
_K1, _B, _K3 = 1.2, 0.6, 1.5


class _Entries:
    """The terms of all candidates in all of `FIELDS`, entry by entry, those of one field after those of another.

    `cells` says whose entry it is: the field's position × candidates + the candidate's.
    """

    def __init__(self, pool: Pool, rarity: Rarity) -> None:
        bags = (pool.title, pool.words, pool.codes, pool.messages)
        self._sizes = np.concatenate([np.diff(bag.starts) for bag in bags])
        self.cells: Integers = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self.terms = np.concatenate([bag.terms for bag in bags])
        self.counts = np.concatenate([bag.counts for bag in bags])
        self.rarity = np.concatenate([rarity(field, bag.terms) for field, bag in zip(FIELDS, bags, strict=True)])

    def sums(self, values: NDArray[Any], fields: slice = slice(None)) -> Floats:
        """(fields, candidates): the sum of each cell's values, which are those of all entries of these fields."""
        sizes = self._sizes.reshape(len(FIELDS), -1)[fields]
        sums = np.zeros(sizes.size)
        # What is summed up lies together, so that it can be added without asking where to; empty cells would get
        # the next one's first value.
        filled = np.flatnonzero(sizes)
        if len(filled):
            starts = np.cumsum(sizes) - sizes.ravel()
            sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
        return sums.reshape(sizes.shape)


class _Shared:
    """The entries that have a term of the question, in their order, with the term's place in `own`, which ascends.

    Which number a term has says in which space it is, so all fields are looked through at once.
    """

    def __init__(self, own: Integers, entries: _Entries) -> None:
        # Nearly all entries are told apart by the last bits of their term.
        likely = np.zeros(_LOW + 1, dtype=np.bool_)
        likely[own & _LOW] = True
        near = np.flatnonzero(likely.take(entries.terms & np.uint32(_LOW)))
        terms = entries.terms[near].astype(np.int64)
        places = np.minimum(np.searchsorted(own, terms), max(len(own) - 1, 0))
        same = np.flatnonzero(own[places] == terms) if len(own) else np.zeros(0, dtype=np.int64)
        at = near[same]
        self.places: Integers = places[same]
        self.cells, self.counts, self.rarity = entries.cells[at], entries.counts[at], entries.rarity[at]


def by_terms(question: Question, pool: Pool, rarity: Rarity) -> dict[str, Floats]:
    known, candidates = question.known, len(pool.issues)
    entries = _Entries(pool, rarity)
    # The words of a text are those of its title, too.
    own = np.concatenate([known[field].terms for field in FIELDS[1:]])
    order = np.argsort(own)
    own = own[order]
    in_title = np.zeros(len(own), dtype=np.bool_)
    in_title[np.searchsorted(own, known["title"].terms)] = True
    shared = _Shared(own, entries)

    def by_field(cells: Integers, values: NDArray[Any]) -> Floats:
        return _sums(cells, values, len(FIELDS) * candidates).reshape(len(FIELDS), candidates)

    of_title = np.flatnonzero(in_title[shared.places])
    masses, both = entries.sums(entries.rarity), by_field(shared.cells, shared.rarity)
    with_title = by_field(shared.cells[of_title], shared.rarity[of_title])
    squares = by_field(shared.cells[of_title], shared.rarity[of_title] ** 2)[_TITLE]
    mine = {field: rarity(field, known[field].terms) for field in FIELDS}
    mass = {field: float(values.sum()) for field, values in mine.items()}
    title_in_words = float(rarity("words", known["title"].terms).sum())
    titles, words = len(pool.title.terms), len(pool.words.terms)
    (norms,) = entries.sums(entries.rarity[:titles] ** 2, slice(_TITLE, _TITLE + 1))
    (lengths,) = entries.sums(entries.counts[titles : titles + words], slice(_WORDS, _WORDS + 1))
    length = np.log1p(lengths)
    rarest, rarest_five, rarest_code = _rarest(shared, candidates)
    return {
        "bm25": _bm25(known, shared, order, lengths, rarity.average_length),
        "titles": _part(squares, np.sqrt(norms * (mine["title"] ** 2).sum())),
        "title_in_title": _part(with_title[_TITLE], mass["title"]),
        "title_of_candidate": _part(with_title[_TITLE], masses[_TITLE]),
        "title_in_words": _part(with_title[_WORDS], title_in_words),
        "words_in_title": _part(both[_TITLE], masses[_TITLE]),
        "words_shared": _part(both[_WORDS], mass["words"] + masses[_WORDS] - both[_WORDS]),
        "words_of_question": _part(both[_WORDS], mass["words"]),
        "words_of_candidate": _part(both[_WORDS], masses[_WORDS]),
        "rarest": rarest,
        "rarest_five": rarest_five,
        "codes": np.log1p(both[_CODES]),
        "codes_of_question": _part(both[_CODES], mass["codes"]),
        "codes_of_candidate": _part(both[_CODES], masses[_CODES]),
        "rarest_code": rarest_code,
        "messages": np.log1p(both[_MESSAGES]),
        "messages_of_question": _part(both[_MESSAGES], mass["messages"]),
        "length": length,
        "shorter": np.log1p(known["words"].counts.sum()) - length,
    }


def _bm25(known: Mapping[str, Terms], shared: _Shared, order: Integers, lengths: Floats, usual: float) -> Floats:
    """`order` leads from the places of shared terms to the question's own; `usual` is the average length."""
    candidates = len(lengths)
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_WORDS + 1) * candidates])
    rows = shared.cells[start:end] - _WORDS * candidates
    counts = shared.counts[start:end].astype(np.float64)
    asked = known["words"].counts
    often = (asked * (1 + _K3) / (asked + _K3))[order[shared.places[start:end]]]
    spread = _K1 * (1 - _B + _B * lengths / usual)
    saturated = counts * (_K1 + 1) / (counts + spread[rows])
    return _sums(rows, shared.rarity[start:end] * often * saturated, candidates)


def _rarest(shared: _Shared, candidates: int) -> tuple[Floats, Floats, Floats]:
    """Of each candidate the rarest shared word, the sum of the five rarest, and the rarest shared code."""
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_CODES + 1) * candidates])
    cells, rarity = shared.cells[start:end] - _WORDS * candidates, shared.rarity[start:end]
    # Cells ascend by one, and no rarity is above one: a cell's entries stay together, the rarest first.
    rarity = rarity[np.argsort(cells - rarity / 2)]
    ranks = np.arange(len(cells)) - np.searchsorted(cells, np.arange(2 * candidates))[cells]
    first, five = ranks < 1, ranks < 5
    rarest, rarest_five = (_sums(cells[few], rarity[few], 2 * candidates) for few in (first, five))
    return rarest[:candidates], rarest_five[:candidates], rarest[candidates:]


def _sums(places: Integers, values: NDArray[Any], length: int) -> Floats:
    """The sum of the values at each place; zero where there are none."""
    return np.bincount(places, values, length).astype(np.float64, copy=False)


def _part(part: Floats, whole: Floats | float) -> Floats:
    return np.asarray(part / np.where(np.asarray(whole) > 0, whole, 1.0), dtype=np.float64)
