"""A repository's vectors in memory, to find those that point where a text's do.

Of each vector there is one bit a dimension, its sign: 96 bytes an issue at 256 dimensions. The number of bits in which
two differ estimates the angle between them (Charikar, "Similarity estimation techniques from rounding algorithms",
2002); comparing 200,000 issues takes a millisecond. Those that are close by that are compared exactly. The vectors for
it are in memory too where the repository is small. Else they are read from the database, so fewer are chosen, by what
the text's own vector says of each sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index.postings.packing import Integers
from bot.index.postings.scoring import distinct
from bot.index.state import State
from bot.index.vectors import vectors
from bot.index.vectors.vectors import Kind, Vectors
from bot.store.tables.index import indexed_vectors as table

#: Vectors of a repository are in memory up to so many bytes: 98,000 issues at 256 dimensions.
MOST_KEPT = 48 << 20

_GONE = np.iinfo(np.int64).max
_ROWS = 5_000
# Vectors whose signs are compared at once.
_TOGETHER = 1 << 15
# Bits of the shorter numbers, which are parted twice as fast.
_SHORT = 32
# Signs tell neighbours apart only roughly: for each that is wanted so many are compared exactly, and a few more. Where
# those must be read, more are taken from the first comparison, and fewer of them remain.
_MORE, _IN_MEMORY = 25, 5.0
_ROUGH, _READ = 12.0, 2.25


class Neighbours:
    """What is known up to `sequence`. Issues have rows in the order in which they came.

    Arrays grow by copying, so whoever reads goes on with those that he has taken.
    """

    def __init__(self, state: State) -> None:
        self._model, self._centre = state.model, state.centre
        self.sequence = 0
        self._count = 0
        self._dimensions = state.vector_sum.shape[1]
        self._numbers: Integers = np.zeros(0, dtype=np.int64)
        self._row_of: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        # By kind, then by word and not by issue: adding up the words is then fast.
        self._bits: NDArray[np.uint64] = np.zeros((len(Kind), -(-self._dimensions // 64), 0), dtype=np.uint64)
        self._values: NDArray[np.int8] | None = np.zeros((0, 2, self._dimensions), dtype=np.int8)
        self._scales: NDArray[np.float32] = np.zeros((0, 2), dtype=np.float32)
        # What the sum of an issue's two vectors is divided by for the one between them.
        self._lengths: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    @property
    def size(self) -> int:
        """Bytes."""
        arrays = (self._numbers, self._row_of, self._bits, self._scales, self._lengths, self._values)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def holds_vectors(self) -> bool:
        """Whether vectors are in memory, and not their signs alone."""
        return self._values is not None

    def follows(self, state: State) -> bool:
        """Whether these are of the same model, around the same centre."""
        same = self._centre is state.centre or np.array_equal(self._centre, state.centre)
        return same and self._model == state.model and self._dimensions == state.vector_sum.shape[1]

    def refresh(self, connection: sa.Connection, repo_id: int, state: State) -> None:
        """Take in what has changed since."""
        if not self._count:
            self._make_room(state.vectors)
        changed = sa.select(table.c.number, table.c.vectors).where(
            table.c.repo_id == repo_id, table.c.changed > self.sequence
        )
        for rows in connection.execute(changed, execution_options={"yield_per": _ROWS}).partitions():
            self._add(np.array([row[0] for row in rows]), vectors.unpack([row[1] for row in rows]))
        if np.count_nonzero(self._numbers[: self._count] != _GONE) > state.vectors:
            there = connection.execute(sa.select(table.c.number).where(table.c.repo_id == repo_id)).scalars().all()
            self._keep_only(np.array(there, dtype=np.int64))
        self.sequence = state.sequence

    def closest(self, around: Vectors, wanted: Mapping[Kind, int], below: int | None) -> Integers:
        """The numbers of issues among which those that point where a text's vectors do are, ascending.

        `around` are the text's vectors, (3, dimensions), `wanted` says how many neighbours of each kind are sought.
        """
        numbers = self._numbers[: self._count]
        late = numbers >= (_GONE if below is None else below)
        rows = [self._candidates(kind, around[kind], k, late) for kind, k in wanted.items()]
        return distinct(numbers[np.concatenate(rows)])

    def _candidates(self, kind: Kind, vector: Vectors, k: int, late: NDArray[np.bool_]) -> Integers:
        """Rows of those whose signs differ least from a vector's signs; of them those that it points along the most,
        where vectors are not in memory.
        """
        bits = self._bits[kind, :, : len(late)]
        apart = _apart(bits, _bits(vector))
        # More than all signs.
        far = 64 * len(bits) + 1
        apart[late] = far
        rough = _nearest(apart, far, int((_IN_MEMORY if self.holds_vectors else _ROUGH) * k) + _MORE)
        rough = rough[apart[rough] < far]
        if self.holds_vectors:
            return rough
        signs = np.unpackbits(bits.take(rough, axis=1).T.copy().view(np.uint8), axis=1, count=len(vector))
        # Over ones alone instead of over ones and minus ones: that differs by a constant.
        along = vectors.along(signs.astype(np.float32), vector)
        return rough[_least(-along, int(_READ * k) + _MORE)]

    def stored(self, numbers: Integers) -> Vectors | None:
        """(issues, 3, dimensions), by `Kind`, around the centre; zero for unknown issues, None where they are not in
        memory.
        """
        row_of, values, scales, lengths = self._row_of, self._values, self._scales, self._lengths
        if values is None:
            return None
        found = np.zeros((len(numbers), len(Kind), self._dimensions), dtype=np.float32)
        if len(row_of):
            rows = _rows(row_of, numbers)
            np.multiply(values.take(rows, axis=0), scales.take(rows, axis=0)[:, :, None], out=found[:, :2])
            np.add(found[:, Kind.TITLE], found[:, Kind.TEXT], out=found[:, Kind.BOTH])
            found[:, Kind.BOTH] /= lengths.take(rows)[:, None]
            found[rows < 0] = 0
        return found

    def cosines(self, numbers: Integers, around: Vectors) -> Vectors | None:
        """(3, issues), by `Kind`: those of issues' vectors with a text's; 0 for unknown issues, None where they are not
        in memory.
        """
        row_of, values, scales, lengths = self._row_of, self._values, self._scales, self._lengths
        if values is None:
            return None
        if not len(numbers) or not len(row_of):
            return np.zeros((len(Kind), len(numbers)), dtype=np.float32)
        rows = _rows(row_of, numbers)
        pairs = values.take(rows, axis=0).astype(np.float32)
        found = vectors.cosines(pairs, around, scales[rows], lengths[rows])
        found[:, rows < 0] = 0
        return found

    def _make_room(self, count: int) -> None:
        """For so many issues; of their vectors as long as they fit. At first for all at once: growing by and by would
        need more than twice the memory meanwhile.
        """
        self._numbers, self._bits = grown(self._numbers, count, 0), grown(self._bits, count, 2)
        if count * 2 * self._dimensions > MOST_KEPT:
            self._values, self._scales, self._lengths = None, self._scales[:0], self._lengths[:0]
        if self._values is not None:
            self._values, self._scales = grown(self._values, count, 0), grown(self._scales, count, 0)
            self._lengths = grown(self._lengths, count, 0, fill=1)

    def _add(self, numbers: Integers, pairs: Vectors) -> None:
        around = vectors.with_both(vectors.around(pairs, self._centre))
        self._row_of = grown(self._row_of, int(numbers.max()) + 1, 0, fill=-1)
        rows = self._row_of[numbers]
        new = rows < 0
        rows[new] = np.arange(self._count, self._count + np.count_nonzero(new))
        count = self._count + int(np.count_nonzero(new))
        self._make_room(count)
        self._numbers[rows] = numbers
        self._bits[:, :, rows] = _bits(around).transpose(1, 2, 0)
        if self._values is not None:
            values, scales = vectors.rounded(around[:, :2])
            self._values[rows], self._scales[rows] = values, scales
            self._lengths[rows] = vectors.lengths_of_both(values * scales[:, :, None])
        self._row_of[numbers] = rows
        self._count = count

    def _keep_only(self, numbers: Integers) -> None:
        """Forget issues that have been taken out. Their rows stay, and are never found again."""
        mine = self._numbers[: self._count]
        gone = np.flatnonzero(~np.isin(mine, numbers) & (mine != _GONE))
        self._row_of[mine[gone]] = -1
        self._bits[:, :, gone] = 0
        if self._values is not None:
            self._values[gone] = 0
        self._numbers[gone] = _GONE


def grown(array: NDArray[Any], length: int, axis: int, fill: int = 0) -> NDArray[Any]:
    """The array, or a copy that is half as long again along an axis, where it is too short."""
    have = array.shape[axis]
    if length <= have:
        return array
    shape = list(array.shape)
    shape[axis] = max(length, have + have // 2) - have
    return np.concatenate([array, np.full(shape, fill, dtype=array.dtype)], axis=axis)


def _rows(row_of: NDArray[np.int32], numbers: Integers) -> Integers:
    """The rows of issues, -1 for unknown ones."""
    rows: Integers = np.where(numbers < len(row_of), row_of[np.minimum(numbers, len(row_of) - 1)], -1)
    return rows


def _apart(bits: NDArray[np.uint64], signs: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """In how many signs each vector differs. In blocks that a processor's own memory holds, which halves the time."""
    apart = np.zeros(bits.shape[1], dtype=np.uint16)
    for start in range(0, len(apart), _TOGETHER):
        block = slice(start, start + _TOGETHER)
        for words, word in zip(bits[:, block], signs, strict=True):
            apart[block] += np.bitwise_count(words ^ word)
    return apart


def _nearest(apart: NDArray[np.uint16], far: int, k: int) -> Integers:
    """The rows of the k that are least apart, of equals the first rows, in no order. None is farther apart than `far`.

    Each row stands behind its distance in one number: numbers are parted several times as fast as their places.
    """
    if len(apart) <= k:
        return np.arange(len(apart))
    bits = len(apart).bit_length()
    keys: NDArray[Any] = apart.astype(np.uint32 if bits + far.bit_length() <= _SHORT else np.uint64)
    keys <<= bits
    keys |= np.arange(len(apart), dtype=keys.dtype)
    return np.asarray(np.partition(keys, k)[:k] & ((1 << bits) - 1), dtype=np.int64)


def _least(values: NDArray[Any], k: int) -> Integers:
    """The positions of the k least values, in no order."""
    return np.argpartition(values, k)[:k] if len(values) > k else np.arange(len(values))


def _bits(values: Vectors) -> NDArray[np.uint64]:
    """The signs along the last axis, 64 in a word."""
    packed = np.packbits(values > 0, axis=-1)
    padded = np.zeros((*packed.shape[:-1], 8 * -(-packed.shape[-1] // 8)), dtype=np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint64)
