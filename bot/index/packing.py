"""How postings and the terms of an issue lie in the database: as arrays that numpy reads without a loop.

A posting is one unsigned 64-bit number: the issue's number (32 bits), how long the field is in that issue (16) and how
often the term occurs in it (16). With the length in it, a list can be scored without looking anything else up.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
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

_NUMBER, _LENGTH = np.uint64(32), np.uint64(16)
_LOW = np.uint64(0xFFFF)


def pack_postings(numbers: NDArray[Any], lengths: NDArray[Any], counts: NDArray[Any]) -> Postings:
    """One posting for each issue."""
    cut = np.minimum(lengths, LONGEST_FIELD).astype(np.uint64) << _LENGTH
    packed = (numbers.astype(np.uint64) << _NUMBER) | cut | np.minimum(counts, MOST_COUNTED).astype(np.uint64)
    return np.asarray(packed, dtype=np.uint64)


def read_postings(*blobs: bytes) -> Postings:
    """The postings of blobs, one after the other."""
    return np.frombuffer(b"".join(blobs), dtype="<u8")


def numbers_of(postings: Postings) -> Integers:
    return (postings >> _NUMBER).astype(np.int64)


def lengths_of(postings: Postings) -> Floats:
    return ((postings >> _LENGTH) & _LOW).astype(np.float64)


def counts_of(postings: Postings) -> Floats:
    return (postings & _LOW).astype(np.float64)


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


def pack_terms(fields: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> bytes:
    """The terms (ascending) and counts of each field: sizes first, then the fields one after the other."""
    sizes: list[int] = []
    parts: list[bytes] = []
    for terms, counts in fields:
        sizes.append(len(terms))
        parts.append(terms.astype("<u4").tobytes())
        parts.append(np.minimum(counts, MOST_COUNTED).astype(np.uint8).tobytes())
    return b"".join([struct.pack(f"<B{len(sizes)}H", len(sizes), *sizes), *parts])


def unpack_terms(blobs: Sequence[bytes], field: int) -> Bags:
    """One field of each issue; a blob that was written when there were fewer fields has nothing in the later ones."""
    terms: list[bytes] = []
    counts: list[bytes] = []
    starts = np.zeros(len(blobs) + 1, dtype=np.int64)
    for row, blob in enumerate(blobs, 1):
        sizes = struct.unpack_from(f"<{blob[0]}H", blob, 1)
        if field >= len(sizes):
            continue
        start = 1 + 2 * len(sizes) + 5 * sum(sizes[:field])
        middle = start + 4 * sizes[field]
        terms.append(blob[start:middle])
        counts.append(blob[middle : middle + sizes[field]])
        starts[row] = sizes[field]
    np.cumsum(starts, out=starts)
    return Bags(starts, np.frombuffer(b"".join(terms), dtype="<u4"), np.frombuffer(b"".join(counts), dtype=np.uint8))
