"""How postings and the terms of an issue lie in the database: as arrays that numpy reads without a loop.

A posting is one unsigned 64-bit number: the issue's number (32 bits), how long the field is in that issue (16) and how
often the term occurs in it (16). With the length in it, a list can be scored without looking anything else up.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Postings = NDArray[np.uint64]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Larger counts and lengths are cut: no score tells them apart.
MOST_COUNTED = 255
LONGEST_FIELD = 65_535
#: Packed terms have room for so many fields; those that are not used yet are empty in all issues.
MOST_FIELDS = 16
#: The packed terms of an issue that has none.
NO_TERMS = bytes(2 * MOST_FIELDS)

_SIZES = struct.Struct(f"<{MOST_FIELDS}H")
_NUMBER, _LENGTH = np.uint64(32), np.uint64(16)


def pack_postings(numbers: NDArray[Any], lengths: NDArray[Any], counts: NDArray[Any]) -> Postings:
    """One posting for each issue."""
    cut = np.minimum(lengths, LONGEST_FIELD).astype(np.uint64) << _LENGTH
    packed = (numbers.astype(np.uint64) << _NUMBER) | cut | np.minimum(counts, MOST_COUNTED).astype(np.uint64)
    return np.asarray(packed, dtype=np.uint64)


def read_postings(*blobs: bytes) -> Postings:
    """The postings of blobs, one after the other."""
    return np.frombuffer(b"".join(blobs), dtype="<u8")


def numbers_of(postings: Postings) -> Integers:
    return postings.view("<u4")[1::2].astype(np.int64)


def lengths_of(postings: Postings) -> Floats:
    return postings.view("<u2")[1::4].astype(np.float64)


def counts_of(postings: Postings) -> Floats:
    return postings.view("<u2")[::4].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Bags:
    """One field of several issues: `terms[starts[i]:starts[i + 1]]`, ascending, are those of the i-th issue."""

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
    """The terms of so many issues: how many each field has, then the fields' terms and counts one after the other."""
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


def aligned(blob: bytes) -> bytes:
    """Packed terms as they are remembered: the sizes, the terms of all fields, their counts, up to a whole word.

    So that many issues can be read at once, wherever they lie one after the other.
    """
    terms, counts = [blob[: len(NO_TERMS)]], []
    end = len(NO_TERMS)
    for size in _SIZES.unpack_from(blob):
        if size:
            start, middle, end = end, end + 4 * size, end + 5 * size
            terms.append(blob[start:middle])
            counts.append(blob[middle:end])
    return b"".join((*terms, *counts, bytes(-len(blob) % 4)))


def bags_of(issues: Sequence[bytes], fields: Sequence[int]) -> list[Bags]:
    """Some fields of each issue, whose terms are `aligned`."""
    together = b"".join(issues)
    lengths = np.fromiter(map(len, issues), np.int64, len(issues))
    begin = np.cumsum(lengths) - lengths
    every = np.frombuffer(together, "<u2").take(begin[:, None] // 2 + np.arange(MOST_FIELDS)).astype(np.int64)
    # Field by field and in it issue by issue: how many terms there are, and where the first of them is.
    before = np.cumsum(every, axis=1) - every
    sizes = every.T.take(fields, axis=0).ravel()
    first = (before.T.take(fields, axis=0) + (begin // 4 + len(NO_TERMS) // 4)).ravel()
    starts = np.concatenate(([0], np.cumsum(sizes)))
    places = np.repeat(first - starts[:-1], sizes) + np.arange(starts[-1])
    terms = np.frombuffer(together, "<u4").take(places)
    # A count has one byte and a term four, so those of an issue are that much farther on.
    farther = begin + len(NO_TERMS) + 4 * every.sum(axis=1) - (begin // 4 + len(NO_TERMS) // 4)
    counts = np.frombuffer(together, np.uint8).take(places + np.repeat(np.tile(farther, len(fields)), sizes))
    bags = []
    for position in range(len(fields)):
        own = starts[position * len(issues) : (position + 1) * len(issues) + 1]
        bags.append(Bags(own - own[0], terms[own[0] : own[-1]], counts[own[0] : own[-1]]))
    return bags


def unpack_terms(blobs: Sequence[bytes], fields: Sequence[int]) -> list[Bags]:
    """Some fields of each of the packed issues."""
    return bags_of([aligned(blob) for blob in blobs], fields)
