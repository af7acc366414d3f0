"""Each issue has two vectors, of the title and of the whole text. This makes and stores them, and finds the closest.

They are stored as bytes with a scale, in a quarter of the space, which moves a cosine by less than 0.01.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding.protocol import Embedder, EmbeddingError, unit
from bot.search.index.analysis import About, Analysis
from bot.search.index.database import delete, fetch, upsert
from bot.search.index.packing import Integers
from bot.search.index.scoring import Scores
from bot.search.index.state import NO_VECTORS, State
from bot.storage.schema import indexed_terms
from bot.storage.schema import indexed_vectors as table

_log = logging.getLogger(__name__)

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
        # The length of the sum of an issue's two vectors; ∞ for a sum of zero.
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
        cosines = np.zeros((len(Kind), count), dtype=np.float32)
        for start in range(0, count, _BLOCK):
            block = slice(start, min(start + _BLOCK, count))
            pairs = values[block].astype(np.float32)
            title, text = pairs[:, Kind.TITLE], pairs[:, Kind.TEXT]
            by_title, by_text = scales[block, Kind.TITLE], scales[block, Kind.TEXT]
            cosines[Kind.TITLE, block] = title @ asked[Kind.TITLE] * by_title
            cosines[Kind.TEXT, block] = text @ asked[Kind.TEXT] * by_text
            both = title @ asked[Kind.BOTH] * by_title + text @ asked[Kind.BOTH] * by_text
            cosines[Kind.BOTH, block] = both / lengths[block]
        there = np.flatnonzero(numbers < (_GONE if below is None else below))
        there = there[np.argsort(numbers[there], kind="stable")]
        # Rounded, because later digits depend on the block, and equal texts must be equally close.
        found = np.round(cosines[:, there].astype(np.float64), _DECIMALS)
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
        lengths = np.linalg.norm((values * scales[:, :, None]).sum(axis=1), axis=1)
        self._lengths[rows] = np.where(lengths > 1e-6, lengths, np.float32(np.inf))
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


#: Vectors are centred once there are this many, and again each time their number has doubled.
FIRST_CENTRE = 512


class Embedded:
    """The part of an index that knows the model. Hold the lock of the repository's row while you change its vectors."""

    def __init__(self, embedder: Embedder, about: About) -> None:
        self._embedder = embedder
        self._about = about
        #: The name of this process's model, and whether it is a remote endpoint.
        self.model, self.remote = embedder.name, embedder.remote

    def allowed(self, repo_id: int) -> bool:
        """Whether the repository's texts may be given to the model."""
        return self._about.may_embed(repo_id)

    def make(self, analyses: Sequence[Analysis]) -> Vectors:
        """Embed title and text of each analysis: (texts, 2, dimensions). Raises EmbeddingError."""
        texts = [analysis.title for analysis in analyses] + [analysis.text for analysis in analyses]
        both = self._embedder.embed(texts)
        return np.stack([both[: len(analyses)], both[len(analyses) :]], axis=1)

    def check(self, state: State, pair: Vectors) -> None:
        """Raise EmbeddingError if a text's vectors cannot be compared with the stored ones.

        The stored vectors may be another model's, and an endpoint can put another model behind the same name.
        """
        if state.vectors and (state.model != self.model or _width(state) != pair.shape[-1]):
            raise EmbeddingError("the model was changed, and the issues are being embedded anew")

    def missing(self, connection: sa.Connection, repo_id: int, state: State, limit: int) -> list[int]:
        """The numbers of issues that this model has not embedded, highest first."""
        terms, stored = indexed_terms.c, table.c
        query = sa.select(terms.number).where(terms.repo_id == repo_id)
        if state.model == self.model:
            joined = sa.and_(stored.repo_id == terms.repo_id, stored.number == terms.number)
            query = query.outerjoin(table, joined).where(stored.number.is_(None))
        return list(connection.execute(query.order_by(terms.number.desc()).limit(limit)).scalars())

    def put(self, connection: sa.Connection, repo_id: int, state: State, numbers: Sequence[int], made: Vectors) -> None:
        """Write vectors and count them in the state. Vectors of another model, or of another width, are dropped."""
        another = state.model == self.model and _width(state) not in (0, made.shape[-1])
        if another:
            _log.warning(
                "%s answers with %d dimensions, not with %d as before: repository %d is embedded anew",
                self.model,
                made.shape[-1],
                _width(state),
                repo_id,
            )
        if another or state.model != self.model:
            connection.execute(sa.delete(table).where(table.c.repo_id == repo_id))
            state.model, state.vectors, state.vector_sum, state.centre = self.model, 0, NO_VECTORS, NO_VECTORS
        drop(connection, repo_id, state, numbers)
        blobs = pack(made)
        rows = [(repo_id, number, state.sequence, blob) for number, blob in zip(numbers, blobs, strict=True)]
        upsert(connection, table, rows)
        before = state.vectors
        state.vectors += len(numbers)
        # Summed as stored, so that it can be subtracted exactly.
        total = unpack(blobs).sum(axis=0, dtype=np.float64)
        state.vector_sum = state.vector_sum + total if state.vector_sum.size else total
        if state.vectors >= FIRST_CENTRE and state.vectors.bit_length() > before.bit_length():
            state.centre = state.vector_sum / state.vectors


def _width(state: State) -> int:
    """How many dimensions the stored vectors have; 0 before there are any."""
    return int(state.vector_sum.shape[1])


def drop(connection: sa.Connection, repo_id: int, state: State, numbers: Collection[int]) -> None:
    """Delete the vectors of these issues and subtract them from the state."""
    old = read(connection, repo_id, numbers)
    if old:
        state.vector_sum = state.vector_sum - unpack(list(old.values())).sum(axis=0, dtype=np.float64)
        state.vectors -= len(old)
        delete(connection, table, repo_id, "number", list(old))
