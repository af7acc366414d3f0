"""Postings and terms as arrays: their binary format in the database, and how postings are scored.

A posting is a single unsigned 64-bit number: the issue's number (32 high bits), the length of the issue's field (16),
and the term's count in that field (16 low bits). So scoring postings needs no further look-up. To take the parts out
again, numpy views an array of postings as smaller integers, lowest part first (little-endian).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Postings = NDArray[np.uint64]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Larger counts and lengths are cut to these values; the difference does not matter for scores.
MOST_COUNTED = 255
LONGEST_FIELD = 65_535
#: Packed terms (`pack_terms`) have room for this many fields; unused fields are empty.
MOST_FIELDS = 16
#: The packed terms of an issue that has none.
NO_TERMS = bytes(2 * MOST_FIELDS)

_HEAD_BYTES = len(NO_TERMS)

_NUMBER_SHIFT, _LENGTH_SHIFT = np.uint64(32), np.uint64(16)


def pack_postings(numbers: NDArray[Any], lengths: NDArray[Any], counts: NDArray[Any]) -> Postings:
    shifted_lengths = np.minimum(lengths, LONGEST_FIELD).astype(np.uint64) << _LENGTH_SHIFT
    cut_counts = np.minimum(counts, MOST_COUNTED).astype(np.uint64)
    return np.asarray((numbers.astype(np.uint64) << _NUMBER_SHIFT) | shifted_lengths | cut_counts, dtype=np.uint64)


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
        """For each item of `terms`, the position of its issue."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def pack_terms(fields: Sequence[Bags], issues: int) -> list[bytes]:
    """Pack each issue's terms. First comes the number of terms in each of MOST_FIELDS fields (2 bytes each).

    Then each field has its terms (4 bytes each) and their counts (1 byte each).
    """
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
    """Unpack the given `fields` of each issue."""
    heads = b"".join([blob[:_HEAD_BYTES] for blob in blobs])
    sizes = np.frombuffer(heads, "<u2").reshape(-1, MOST_FIELDS).astype(np.int64)
    ends = _HEAD_BYTES + 5 * np.cumsum(sizes, axis=1)  # 4 bytes for each term, 1 for its count.
    unpacked = []
    for field in fields:
        size, end = sizes[:, field], ends[:, field]
        starts, middles = (end - 5 * size).tolist(), (end - size).tolist()
        terms = [blob[start:middle] for blob, start, middle in zip(blobs, starts, middles, strict=True)]
        counts = [blob[middle:stop] for blob, middle, stop in zip(blobs, middles, end.tolist(), strict=True)]
        bounds = np.concatenate([[0], np.cumsum(size)])
        unpacked.append(Bags(bounds, np.frombuffer(b"".join(terms), "<u4"), np.frombuffer(b"".join(counts), np.uint8)))
    return unpacked


#: A function that takes the counts and the lengths in postings, and returns a score for each posting.
Scoring = Callable[[Floats, Floats], Floats]


def idf(total: int, issues: NDArray[Any]) -> Floats:
    """ln(1 + (N - n + ½) / (n + ½)) with N = `total`, n = `issues`: Lucene's inverse document frequency, 0 or more."""
    seen = np.minimum(issues, total)
    return np.asarray(np.log1p((total - seen + 0.5) / (seen + 0.5)), dtype=np.float64)


def bm25(average_length: float, k1: float = 1.2, b: float = 0.6) -> Scoring:
    """BM25's saturation of the count, normalised by length.

    For a field whose counts are weighted sums of other fields' counts, this is BM25F (Robertson, Zaragoza and Taylor,
    "Simple BM25 extension to multiple weighted fields", 2004).
    """
    base, per_length = k1 * (1 - b), k1 * b / average_length
    return lambda counts, lengths: counts * (k1 + 1) / (lengths * per_length + base + counts)


def binary(offset: float = 1.0) -> Scoring:
    """1 / √(offset + length): each term counts only once, and counts less in a long field."""
    return lambda _, lengths: 1.0 / np.sqrt(lengths + offset)


@dataclass(frozen=True, slots=True)
class Scores:
    """The numbers of issues that a search found, ascending unless they come from `best`, and their scores."""

    numbers: Integers
    scores: Floats

    def best(self, k: int) -> Scores:
        """The `k` best issues, best first; among equal scores the older issue comes first."""
        # `picked` includes all issues that tie for place k, so that `lexsort` can prefer the older ones.
        picked = np.flatnonzero(self.scores >= lower_bound(self.scores, k))
        order = picked[np.lexsort((self.numbers[picked], -self.scores[picked]))][:k]
        return Scores(self.numbers[order], self.scores[order])


def lower_bound(values: NDArray[Any], k: int) -> float:
    """A number that at least `k` values reach. Most others usually lie below. -inf if there are at most `k` values.

    Splits the values into more than k groups, and returns the k-th highest of the groups' maxima.
    Finding the k-th highest of all values would take ten times as long.
    """
    if len(values) <= k:
        return -np.inf
    size = max(1, len(values) // (2 * k))
    groups = len(values) // size
    return float(np.partition(values[: size * groups].reshape(size, groups).max(axis=0), -k)[-k])


def add_up(numbers: Integers, scores: Floats, below: int | None) -> Scores:
    """Add up the scores of each issue with a number below `below`. Scores must be positive: 0 means "not found"."""
    sums = np.bincount(numbers, weights=scores).astype(np.float64, copy=False)
    scored = np.flatnonzero(sums > 0)
    sums = sums[scored]
    if below is not None:
        end = np.searchsorted(scored, below)
        scored, sums = scored[:end], sums[:end]
    return Scores(scored, sums)
