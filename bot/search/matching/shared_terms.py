"""Computes the features about shared terms, weighted by rarity; `features.py` lists them.

A term's rarity is its inverse document frequency divided by the largest possible one, in (0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.search.index import Terms, View, idf
from bot.search.index.packing import Floats, Integers
from bot.search.matching.retrieval import FIELDS, IssueQuery, Pool
from bot.search.ranking.size import SMALL


@dataclass(frozen=True, slots=True)
class TermRarity:
    """How rare terms are in one repository of `total` issues, by `counts` for each field and term.

    The question's issue may be in the index. It is left out, as if it had not arrived yet: `own` holds its terms,
    sorted, by field. `average_length` is the mean length of the other issues' words.
    """

    total: int
    counts: Mapping[str, NDArray[np.int32]]
    own: Mapping[str, Integers]
    average_length: float

    @classmethod
    def of(cls, view: View, without: int = 0) -> TermRarity:
        """The rarity in a repository, without the issue of this number if it is there."""
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
        # A term that only other fields have counts once, since it is not new.
        seen = np.maximum(counts.take(terms, mode="clip"), 1)
        # New terms have negative numbers, and an issue that was added just now may have numbers that are too high.
        seen = np.where((terms >= 0) & (terms < len(counts)), seen, 0)
        own = self.own.get(field)
        if own is not None and len(own):
            places = np.minimum(np.searchsorted(own, terms), len(own) - 1)
            seen = np.maximum(seen - (own[places] == terms), 0)
        total = max(self.total, SMALL)
        return idf(total, seen) / idf(total, np.zeros(1))


_TITLE, _WORDS, _CODES, _MESSAGES = range(len(FIELDS))
_K1, _B, _K3 = 1.2, 0.6, 1.5


class _Entries:
    """The terms of all candidates, entry by entry, one field of `FIELDS` after the other.

    An entry's cell tells its field and its candidate: field's position × candidates + candidate's position.
    """

    def __init__(self, pool: Pool, rarity: TermRarity) -> None:
        bags = (pool.title, pool.words, pool.codes, pool.messages)
        self._sizes = np.concatenate([np.diff(bag.starts) for bag in bags])
        self.cells: Integers = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self.terms = np.concatenate([bag.terms for bag in bags])
        self.counts = np.concatenate([bag.counts for bag in bags])
        self.rarity = np.concatenate([rarity(field, bag.terms) for field, bag in zip(FIELDS, bags, strict=True)])

    def sums(self, values: NDArray[Any], fields: slice = slice(None)) -> Floats:
        """(fields, candidates): the sums of `values`, one for each entry of these fields, by cell."""
        sizes = self._sizes.reshape(len(FIELDS), -1)[fields]
        sums = np.zeros(sizes.size)
        # A cell's entries lie together. An empty cell would get the next cell's first value.
        filled = np.flatnonzero(sizes)
        if len(filled):
            starts = np.cumsum(sizes) - sizes.ravel()
            sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
        return sums.reshape(sizes.shape)


class _Shared:
    """The entries with a term of the question, and the term's place in `own`, which ascends.

    Terms of different spaces have different numbers, so all fields are searched at once.
    """

    def __init__(self, own: Integers, entries: _Entries) -> None:
        at = np.flatnonzero(np.isin(entries.terms, own, kind="table"))
        self.places: Integers = np.searchsorted(own, entries.terms[at])
        self.cells, self.counts, self.rarity = entries.cells[at], entries.counts[at], entries.rarity[at]


def _by_terms(question: IssueQuery, pool: Pool, rarity: TermRarity) -> dict[str, Floats]:
    known, candidates = question.known, len(pool.issues)
    entries = _Entries(pool, rarity)
    # The words of a text include its title's.
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
    """BM25F; `order` maps the places of shared terms to the question's words, `usual` is the average length."""
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
    """For each candidate, the rarity of its rarest shared word, the sum of its five rarest, and of its rarest code."""
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_CODES + 1) * candidates])
    cells, rarity = shared.cells[start:end] - _WORDS * candidates, shared.rarity[start:end]
    # Cells are whole numbers and no rarity is above 1, so a cell's entries stay together, the rarest first.
    rarity = rarity[np.argsort(cells - rarity / 2)]
    ranks = np.arange(len(cells)) - np.searchsorted(cells, np.arange(2 * candidates))[cells]
    first, five = ranks < 1, ranks < 5
    rarest, rarest_five = (_sums(cells[few], rarity[few], 2 * candidates) for few in (first, five))
    return rarest[:candidates], rarest_five[:candidates], rarest[candidates:]


def _sums(places: Integers, values: NDArray[Any], length: int) -> Floats:
    """The sum of the values at each place."""
    return np.bincount(places, values, length).astype(np.float64, copy=False)


def _part(part: Floats, whole: Floats | float) -> Floats:
    return np.asarray(part / np.where(np.asarray(whole) > 0, whole, 1.0), dtype=np.float64)
