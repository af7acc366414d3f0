"""How postings and the terms of an issue lie in the database: as arrays that numpy reads without a loop.

A posting is one unsigned 64-bit number: the issue's number (32 bits), how long the field is in that issue (16) and how
often the term occurs in it (16). With the length in it, a list can be scored without looking anything else up.
"""

from __future__ import annotations

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


def pack_terms(fields: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> bytes:
    """The terms (ascending) and counts of each field: how many there are, then the fields one after the other."""
    sizes = np.zeros(MOST_FIELDS, dtype="<u2")
    sizes[: len(fields)] = [len(terms) for terms, _ in fields]
    parts = [sizes.tobytes()]
    for terms, counts in fields:
        parts.append(terms.astype("<u4").tobytes())
        parts.append(np.minimum(counts, MOST_COUNTED).astype(np.uint8).tobytes())
    return b"".join(parts)


def unpack_terms(blobs: Sequence[bytes], fields: Sequence[int]) -> list[Bags]:
    """Some fields of each issue."""
    heads = np.frombuffer(b"".join([blob[: len(NO_TERMS)] for blob in blobs]), dtype="<u2").astype(np.int64)
    sizes = heads.reshape(len(blobs), MOST_FIELDS)
    ends = len(NO_TERMS) + 5 * np.cumsum(sizes, axis=1)
    bags = []
    for field in fields:
        size, end = sizes[:, field], ends[:, field]
        spans = list(zip(blobs, (end - 5 * size).tolist(), (end - size).tolist(), end.tolist(), strict=True))
        terms = np.frombuffer(b"".join([blob[first:middle] for blob, first, middle, _ in spans]), dtype="<u4")
        counts = np.frombuffer(b"".join([blob[middle:last] for blob, _, middle, last in spans]), dtype=np.uint8)
        bags.append(Bags(np.concatenate([[0], np.cumsum(size)]), terms, counts))
    return bags
