"""Postings and terms as arrays: their binary format in the database, and how postings are scored.

A posting is one unsigned 64-bit number: the issue's number (32 bits), the length of its field (16), and the term's
count in it (16). So a list can be scored without another look-up.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Postings = NDArray[np.uint64]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Larger counts and lengths are cut; they make no difference to scores.
MOST_COUNTED = 255
LONGEST_FIELD = 65_535
#: The number of fields in packed terms; those that are not used yet are empty.
MOST_FIELDS = 16
#: The packed terms of an issue that has none.
NO_TERMS = bytes(2 * MOST_FIELDS)

_SIZES = struct.Struct(f"<{MOST_FIELDS}H")
_NUMBER, _LENGTH = np.uint64(32), np.uint64(16)


def pack_postings(numbers: NDArray[Any], lengths: NDArray[Any], counts: NDArray[Any]) -> Postings:
    cut = np.minimum(lengths, LONGEST_FIELD).astype(np.uint64) << _LENGTH
    packed = (numbers.astype(np.uint64) << _NUMBER) | cut | np.minimum(counts, MOST_COUNTED).astype(np.uint64)
    return np.asarray(packed, dtype=np.uint64)


def read_postings(*blobs: bytes) -> Postings:
    return np.frombuffer(b"".join(blobs), dtype="<u8")


def numbers_of(postings: Postings) -> Integers:
    return postings.view("<u4")[1::2].astype(np.int64)


def lengths_of(postings: Postings) -> Floats:
    return postings.view("<u2")[1::4].astype(np.float64)


def counts_of(postings: Postings) -> Floats:
    return postings.view("<u2")[::4].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Bags:
    """One field of several issues: the i-th issue has the terms `terms[starts[i]:starts[i + 1]]`, ascending."""

    starts: Integers
    terms: NDArray[np.uint32]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> Integers:
        """For each entry, the position of its issue."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def pack_terms(fields: Sequence[Bags], issues: int) -> list[bytes]:
    """Pack each issue's terms: how many each field has, then field by field the terms and their counts."""
    sizes = np.zeros((issues, MOST_FIELDS), dtype="<u2")
    parts: list[list[bytes]] = []
    for position, bags in enumerate(fields):
        sizes[:, position] = np.diff(bags.starts)
        starts = bags.starts.tolist()
        terms, counts = bags.terms.astype("<u4").tobytes(), bags.counts.tobytes()
        spans = list(itertools.pairwise(starts))
        parts.append([terms[4 * start : 4 * end] for start, end in spans])
        parts.append([counts[start:end] for start, end in spans])
    return [b"".join(issue) for issue in zip([row.tobytes() for row in sizes], *parts, strict=True)]


def unpack_terms(blobs: Sequence[bytes], fields: Sequence[int]) -> list[Bags]:
    """Read some fields of each of the packed issues."""
    terms: list[list[bytes]] = [[] for _ in fields]
    counts: list[list[bytes]] = [[] for _ in fields]
    for blob in blobs:
        sizes = _SIZES.unpack_from(blob)
        before = [0, *itertools.accumulate(sizes)]
        for place, field in enumerate(fields):
            start, size = _SIZES.size + 5 * before[field], sizes[field]
            terms[place].append(blob[start : start + 4 * size])
            counts[place].append(blob[start + 4 * size : start + 5 * size])
    return [
        Bags(
            np.cumsum([0, *map(len, sizes)]),
            np.frombuffer(b"".join(words), "<u4"),
            np.frombuffer(b"".join(sizes), np.uint8),
        )
        for words, sizes in zip(terms, counts, strict=True)
    ]


#: Takes the counts of a term and the lengths of the fields, and gives a score for each posting.
Scoring = Callable[[Floats, Floats], Floats]


def idf(total: int, issues: NDArray[Any]) -> Floats:
    """ln(1 + (N - n + ½) / (n + ½)), never negative: Lucene's form of BM25's inverse document frequency."""
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
    """1 / √(offset + length): each term counts once, and less in a long field."""
    return lambda _, lengths: 1.0 / np.sqrt(lengths + offset)


@dataclass(frozen=True, slots=True)
class Scores:
    """Issues that share a term with the query, by ascending number; `complete` unless lists were too long to read."""

    numbers: Integers
    scores: Floats
    complete: bool = True

    def best(self, k: int) -> Scores:
        """The k best, best first, older ones first among equals."""
        if len(self.scores) > k:
            # All that are as good as the k-th, so that age breaks ties.
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
