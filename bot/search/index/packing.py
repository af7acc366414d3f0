"""The binary format of postings and of an issue's terms in the database.

A posting is one unsigned 64-bit number: the issue's number (32 bits), the length of the field in that issue (16), and
the term's count in it (16). Because the length is in it, a list is scored without another look-up.
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
#: The number of fields in packed terms; those that are not used yet are empty.
MOST_FIELDS = 16
#: The packed terms of an issue that has none.
NO_TERMS = bytes(2 * MOST_FIELDS)

_SIZES = struct.Struct(f"<{MOST_FIELDS}H")
_NUMBER, _LENGTH = np.uint64(32), np.uint64(16)


def pack_postings(numbers: NDArray[Any], lengths: NDArray[Any], counts: NDArray[Any]) -> Postings:
    """Pack one posting for each issue."""
    cut = np.minimum(lengths, LONGEST_FIELD).astype(np.uint64) << _LENGTH
    packed = (numbers.astype(np.uint64) << _NUMBER) | cut | np.minimum(counts, MOST_COUNTED).astype(np.uint64)
    return np.asarray(packed, dtype=np.uint64)


def read_postings(*blobs: bytes) -> Postings:
    """Read the postings of all blobs, one after the other."""
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
