"""Each issue has two vectors, of the title and of the whole text. This stores them and finds the closest.

They are stored as bytes with a scale, in a quarter of the space, which moves a cosine by less than 0.01.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.embedding.protocol import unit
from bot.index.database import fetch
from bot.index.postings.packing import Integers
from bot.index.postings.scoring import Scores
from bot.index.state import State
from bot.store.tables.index import indexed_vectors as table

Vectors = NDArray[np.float32]

_GONE = np.iinfo(np.int64).max
_ROWS = 5_000
# Vectors that are compared at once: they fit into the processor's cache, which takes a third of the time.
_BLOCK = 512
# Cosines are rounded to what the stored vectors can tell.
_DECIMALS = 5


class Kind(IntEnum):
    """What a vector stands for. `BOTH` is the direction of the other two's sum, and is not stored."""

    TITLE = 0
    TEXT = 1
    BOTH = 2


def rounded(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round vectors to bytes; the second array holds the scale of each."""
    scales = np.maximum(np.abs(vectors).max(axis=-1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(vectors / scales[..., None]).astype(np.int8), scales


def pack(vectors: Vectors) -> list[bytes]:
    """(issues, 2, dimensions) → a blob for each issue: the two scales, then the bytes."""
    values, scales = rounded(vectors)
    return [scale.astype("<f4").tobytes() + row.tobytes() for scale, row in zip(scales, values, strict=True)]


def unpack(blobs: Sequence[bytes]) -> Vectors:
    """Undo `pack`, up to rounding."""
    if not blobs:
        return np.zeros((0, 2, 0), dtype=np.float32)
    raw = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    scales = raw[:, :8].copy().view("<f4")
    values = raw[:, 8:].view(np.int8).reshape(len(blobs), 2, -1)
    return np.asarray(values.astype(np.float32) * scales[:, :, None], dtype=np.float32)


def around(vectors: Vectors, centre: NDArray[np.float64]) -> Vectors:
    """Subtract the centre and make unit vectors again.

    All texts of one repository point in nearly the same direction; cosines tell more without it.
    """
    return unit(vectors - centre.astype(np.float32)) if centre.size else vectors


def with_both(vectors: Vectors) -> Vectors:
    """(issues, 2, dimensions) → (issues, 3, dimensions), by `Kind`."""
    return np.concatenate([vectors, unit(vectors.sum(axis=1, keepdims=True))], axis=1)


def lengths_of_both(vectors: Vectors) -> Vectors:
    """(issues, 2, dimensions) → (issues,): the lengths of the two vectors' sums; ∞ for a sum of zero."""
    lengths = np.linalg.norm(vectors.sum(axis=1), axis=1)
    return np.where(lengths > 1e-6, lengths, np.float32(np.inf))


def cosines(pairs: Vectors, around: Vectors, scales: Vectors, lengths: Vectors) -> Vectors:
    """(3, issues), by `Kind`: the cosines of issues' vectors with a text's, `around`, (3, dimensions).

    `pairs`, (issues, 2, dimensions), times `scales`, (issues, 2), are the vectors; `lengths` are `lengths_of_both`.
    """

    def one(own: Kind, asked: Kind) -> Vectors:
        product: Vectors = pairs[:, own] @ around[asked] * scales[:, own]
        return product

    both = (one(Kind.TITLE, Kind.BOTH) + one(Kind.TEXT, Kind.BOTH)) / lengths
    return np.stack([one(Kind.TITLE, Kind.TITLE), one(Kind.TEXT, Kind.TEXT), both])


def read(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, bytes]:
    """The stored vectors, by number."""
    return dict(fetch(connection, repo_id, (table.c.number, table.c.vectors), table.c.number, numbers))


class Neighbours:
    """A repository's vectors in memory, current up to the change `sequence`. A search compares all of them.

    Arrays grow by copying, so that a reader in another thread goes on with the arrays it has.
    """

    def __init__(self, state: State) -> None:
        self._model, self._centre = state.model, state.centre
        self.sequence = 0
        self._count = 0
        self._dimensions = state.vector_sum.shape[1]
        self._numbers: Integers = np.zeros(0, dtype=np.int64)
        self._row_of: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._values: NDArray[np.int8] = np.zeros((0, 2, self._dimensions), dtype=np.int8)
        self._scales: NDArray[np.float32] = np.zeros((0, 2), dtype=np.float32)
        self._lengths: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    @property
    def size(self) -> int:
        """Bytes."""
        arrays = (self._numbers, self._row_of, self._values, self._scales, self._lengths)
        return sum(array.nbytes for array in arrays)

    def follows(self, state: State) -> bool:
        """Whether the state has the same model and the same centre."""
        same = self._model == state.model and self._dimensions == state.vector_sum.shape[1]
        return same and np.array_equal(self._centre, state.centre)

    def refresh(self, connection: sa.Connection, repo_id: int, state: State) -> None:
        """Read what has changed since."""
        if not self._count:
            self._make_room(state.vectors)
        changed = sa.select(table.c.number, table.c.vectors).where(
            table.c.repo_id == repo_id, table.c.changed > self.sequence
        )
        for rows in connection.execute(changed, execution_options={"yield_per": _ROWS}).partitions():
            self._add(np.array([row[0] for row in rows]), unpack([row[1] for row in rows]))
        if np.count_nonzero(self._numbers[: self._count] != _GONE) > state.vectors:
            there = connection.execute(sa.select(table.c.number).where(table.c.repo_id == repo_id)).scalars().all()
            self._keep_only(np.array(there, dtype=np.int64))
        self.sequence = state.sequence

    def nearest(self, asked: Vectors, wanted: Mapping[Kind, int], below: int | None) -> dict[Kind, Scores]:
        """For each kind, find the issues whose vectors are closest to a text's, `asked`, as many as `wanted`.

        `below` leaves out issues with that number and higher ones.
        """
        count = self._count
        numbers, values, scales, lengths = self._numbers[:count], self._values, self._scales, self._lengths
        all_cosines = np.zeros((len(Kind), count), dtype=np.float32)
        for start in range(0, count, _BLOCK):
            block = slice(start, min(start + _BLOCK, count))
            all_cosines[:, block] = cosines(values[block].astype(np.float32), asked, scales[block], lengths[block])
        there = np.flatnonzero(numbers < (_GONE if below is None else below))
        there = there[np.argsort(numbers[there], kind="stable")]
        # Rounded, because later digits depend on the block, and equal texts must be equally close.
        found = np.round(all_cosines[:, there].astype(np.float64), _DECIMALS)
        return {kind: Scores(numbers[there], found[kind]).best(k) for kind, k in wanted.items()}

    def stored(self, numbers: Integers) -> Vectors:
        """The centred vectors of issues, (issues, 3, dimensions), by `Kind`; zero for unknown issues."""
        row_of, values, scales, lengths = self._row_of, self._values, self._scales, self._lengths
        found = np.zeros((len(numbers), len(Kind), self._dimensions), dtype=np.float32)
        if len(row_of):
            rows = np.where(numbers < len(row_of), row_of[np.minimum(numbers, len(row_of) - 1)], -1)
            np.multiply(values.take(rows, axis=0), scales.take(rows, axis=0)[:, :, None], out=found[:, :2])
            np.add(found[:, Kind.TITLE], found[:, Kind.TEXT], out=found[:, Kind.BOTH])
            found[:, Kind.BOTH] /= lengths.take(rows)[:, None]
            found[rows < 0] = 0
        return found

    def _make_room(self, count: int) -> None:
        """Make room for this many issues; at first for all, since growing step by step would take twice the memory."""
        self._numbers = grown(self._numbers, count)
        self._values, self._scales = grown(self._values, count), grown(self._scales, count)
        self._lengths = grown(self._lengths, count, fill=1)

    def _add(self, numbers: Integers, pairs: Vectors) -> None:
        self._row_of = grown(self._row_of, int(numbers.max()) + 1, fill=-1)
        rows = self._row_of[numbers]
        new = rows < 0
        rows[new] = np.arange(self._count, self._count + np.count_nonzero(new))
        count = self._count + int(np.count_nonzero(new))
        self._make_room(count)
        values, scales = rounded(around(pairs, self._centre))
        self._values[rows], self._scales[rows] = values, scales
        self._lengths[rows] = lengths_of_both(values * scales[:, :, None])
        self._numbers[rows] = numbers
        self._row_of[numbers] = rows
        self._count = count

    def _keep_only(self, numbers: Integers) -> None:
        """Forget issues that were removed. Their rows stay, and are never found again."""
        mine = self._numbers[: self._count]
        gone = np.flatnonzero(~np.isin(mine, numbers) & (mine != _GONE))
        self._row_of[mine[gone]] = -1
        self._values[gone] = 0
        self._numbers[gone] = _GONE


def grown(array: NDArray[Any], length: int, fill: int = 0) -> NDArray[Any]:
    """The array, or a copy with half as many rows again if it is too short."""
    have = len(array)
    if length <= have:
        return array
    more = max(length, have + have // 2) - have
    return np.concatenate([array, np.full((more, *array.shape[1:]), fill, dtype=array.dtype)])
