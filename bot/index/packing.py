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


#: The terms and the counts of each field, one after the other, as they are packed.
Split = tuple[bytes, ...]


def split_terms(blob: bytes, fields: int) -> Split:
    """Packed terms, field by field: the first `fields` of them."""
    parts: list[bytes] = []
    end = len(NO_TERMS)
    for size in _SIZES.unpack_from(blob)[:fields]:
        start, middle, end = end, end + 4 * size, end + 5 * size
        parts += (blob[start:middle], blob[middle:end])
    return tuple(parts)


def bags_of(issues: Sequence[Split], fields: Sequence[int]) -> list[Bags]:
    """Some fields of each issue."""
    bags = []
    for field in fields:
        counts = [parts[2 * field + 1] for parts in issues]
        starts = np.zeros(len(issues) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, counts), np.int64, len(issues)), out=starts[1:])
        terms = np.frombuffer(b"".join([parts[2 * field] for parts in issues]), dtype="<u4")
        bags.append(Bags(starts, terms, np.frombuffer(b"".join(counts), dtype=np.uint8)))
    return bags


def unpack_terms(blobs: Sequence[bytes], fields: Sequence[int]) -> list[Bags]:
    """Some fields of each of the packed issues."""
    return bags_of([split_terms(blob, max(fields) + 1) for blob in blobs], fields)
