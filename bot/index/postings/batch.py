"""Several issues' terms as arrays: what a change writes. Pure."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.index.analysis import Analysis, Field, hashes
from bot.index.postings import lists
from bot.index.postings.packing import MOST_COUNTED, Bags, Integers, Postings, pack_postings, pack_terms, unpack_terms


@dataclass(frozen=True, slots=True)
class _Column:
    """One field of all issues. Each entry has the issue's position, the term's position in the batch, and its count."""

    rows: Integers
    terms: Integers
    counts: Integers


class Batch:
    """Analysed issues; `hashes` are the hashes of all their terms, each once."""

    def __init__(self, fields: Sequence[Field], analyses: Mapping[int, Analysis]) -> None:
        self._fields = fields
        self.numbers: Integers = np.array(list(analyses), dtype=np.int64)
        free = itertools.count()
        # A word's first look-up gives it the next position.
        spaces: dict[str, dict[str, int]] = {field.space: defaultdict(free.__next__) for field in fields}
        self._columns = [_column(field.name, spaces[field.space], analyses.values()) for field in fields]
        self.hashes: Integers = np.zeros(sum(map(len, spaces.values())), dtype=np.int64)
        for space, positions in spaces.items():
            self.hashes[np.fromiter(positions.values(), np.int64, len(positions))] = hashes(space, positions)
        self.lengths = [np.bincount(c.rows, c.counts, len(self.numbers)).astype(np.int64) for c in self._columns]

    def entries(self, numbered: Integers) -> tuple[Integers, Postings, list[bytes]]:
        """The lists' keys, a posting for each, and each issue's packed terms. `numbered` are numbers for `hashes`."""
        keys: list[Integers] = []
        postings: list[Postings] = []
        fields: list[Bags] = []
        for position, (column, lengths) in enumerate(zip(self._columns, self.lengths, strict=True)):
            terms = numbered[column.terms]
            order = np.argsort(column.rows << 32 | terms)
            rows, terms, counts = column.rows[order], terms[order], column.counts[order]
            keys.append(lists.keys(position, terms))
            postings.append(pack_postings(self.numbers[rows], lengths[rows], counts))
            starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(self.numbers)))))
            fields.append(Bags(starts, terms.astype(np.uint32), counts.astype(np.uint8)))
        return np.concatenate(keys), np.concatenate(postings), pack_terms(fields, len(self.numbers))


def stored_entries(blobs: Mapping[int, bytes], fields: int) -> tuple[Integers, Integers, list[int]]:
    """From packed terms by issue: the lists' keys, the issue's number for each, and the fields' summed lengths."""
    numbers = np.array(list(blobs), dtype=np.int64)
    bags = unpack_terms(list(blobs.values()), range(fields))
    keys = [lists.keys(position, bag.terms) for position, bag in enumerate(bags)]
    lengths = [int(bag.counts.sum(dtype=np.int64)) for bag in bags]
    return np.concatenate(keys), np.concatenate([numbers[bag.rows] for bag in bags]), lengths


def _column(name: str, positions: dict[str, int], analyses: Iterable[Analysis]) -> _Column:
    """One field of all issues, with the words' positions in the batch."""
    found = [analysis.terms.get(name, {}) for analysis in analyses]
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    total = int(sizes.sum())
    words = itertools.chain.from_iterable(found)
    terms = np.fromiter(map(positions.__getitem__, words), np.int64, total)
    counts = np.fromiter(itertools.chain.from_iterable([each.values() for each in found]), np.int64, total)
    # Cut here as they are stored, so that the same counts are subtracted when an issue leaves.
    return _Column(np.repeat(np.arange(len(found)), sizes), terms, np.minimum(counts, MOST_COUNTED))
