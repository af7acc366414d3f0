"""Several issues' terms as arrays: what a change writes, computed without a loop over terms. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.index import lists
from bot.index.analysis import Analysis, Field, hashes
from bot.index.packing import MOST_COUNTED, Integers, Postings, pack_postings, pack_terms, unpack_terms


@dataclass(frozen=True, slots=True)
class _Column:
    """One field of all issues: row by row the issue's position, the term's position in the batch, and its count."""

    rows: Integers
    terms: Integers
    counts: Integers


class Batch:
    """Analysed issues. `hashes` are those of all their terms, each once."""

    def __init__(self, fields: Sequence[Field], analyses: Mapping[int, Analysis]) -> None:
        self._fields = fields
        self.numbers: Integers = np.array(list(analyses), dtype=np.int64)
        spaces: dict[str, dict[str, int]] = {field.space: {} for field in fields}
        free = itertools.count()
        self._columns = [_column(field.name, spaces[field.space], free, analyses.values()) for field in fields]
        self.hashes: list[int] = [0] * sum(map(len, spaces.values()))
        for space, positions in spaces.items():
            for position, value in zip(positions.values(), hashes(space, positions), strict=True):
                self.hashes[position] = value
        self.lengths = [np.bincount(c.rows, c.counts, len(self.numbers)).astype(np.int64) for c in self._columns]

    def entries(self, known: Mapping[int, int]) -> tuple[Integers, Postings, list[bytes]]:
        """With the terms' numbers by hash: the lists' keys, their new postings, and each issue's packed terms."""
        numbered = np.array([known[value] for value in self.hashes], dtype=np.int64)
        keys: list[Integers] = []
        postings: list[Postings] = []
        packed: list[list[tuple[NDArray[Any], NDArray[Any]]]] = [[] for _ in self.numbers]
        for position, (column, lengths) in enumerate(zip(self._columns, self.lengths, strict=True)):
            terms = numbered[column.terms]
            order = np.lexsort((terms, column.rows))
            rows, terms, counts = column.rows[order], terms[order], column.counts[order]
            keys.append(lists.keys(position, terms))
            postings.append(pack_postings(self.numbers[rows], lengths[rows], counts))
            ends = np.cumsum(np.bincount(rows, minlength=len(self.numbers))).tolist()
            for issue, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
                packed[issue].append((terms[start:end], counts[start:end]))
        return np.concatenate(keys), np.concatenate(postings), [pack_terms(fields) for fields in packed]


def stored_entries(blobs: Mapping[int, bytes], fields: int) -> tuple[Integers, Integers, list[int]]:
    """Of packed terms by number: the lists' keys, beside each the number that is in it, and the fields' lengths."""
    numbers = np.array(list(blobs), dtype=np.int64)
    bags = unpack_terms(list(blobs.values()), range(fields))
    keys = [lists.keys(position, bag.terms) for position, bag in enumerate(bags)]
    lengths = [int(bag.counts.sum(dtype=np.int64)) for bag in bags]
    return np.concatenate(keys), np.concatenate([numbers[bag.rows] for bag in bags]), lengths


def _column(name: str, positions: dict[str, int], numbers: Iterator[int], analyses: Iterable[Analysis]) -> _Column:
    """One field of all issues; words that have no position in the batch yet get the next of `numbers`."""
    found = [analysis.terms.get(name, {}) for analysis in analyses]
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    words = list(itertools.chain.from_iterable(found))
    fresh = [word for word in dict.fromkeys(words) if word not in positions]
    positions.update(zip(fresh, numbers, strict=False))
    terms = np.fromiter(map(positions.__getitem__, words), np.int64, len(words))
    counts = np.fromiter(itertools.chain.from_iterable(each.values() for each in found), np.int64, len(words))
    # Counts are cut here, since those that are stored are taken back when an issue leaves.
    return _Column(np.repeat(np.arange(len(found)), sizes), terms, np.minimum(counts, MOST_COUNTED))
