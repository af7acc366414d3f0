"""Makes and stores two vectors for each issue, of the title and of the whole text, and finds the closest issues.

A stored vector has a byte for each dimension, and a scale. This takes a quarter of the space of floats, and changes
cosines by less than 0.01.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from simsimd import cdist

from bot.search.embedding import Embedder, EmbeddingError, unit
from bot.search.index.analysis import Analysis
from bot.search.index.arrays import Integers, Scores, lower_bound
from bot.search.index.database import NO_VECTORS, IndexState, delete, fetch, upsert
from bot.storage.engine import with_key
from bot.storage.schema import indexed_terms
from bot.storage.schema import indexed_vectors as table

_log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

# Stands for the number of a removed issue.
_GONE = np.iinfo(np.int64).max
_ROWS_AT_ONCE = 5_000

_NEWER = sa.select(table.c.number, table.c.vectors).where(
    with_key(table, "repo_id"), table.c.changed > sa.bindparam("after")
)


class VectorKind(IntEnum):
    """The text that a vector stands for. `BOTH` is not stored: it is the direction of the sum of the other two."""

    TITLE = 0
    TEXT = 1
    BOTH = 2


def rounded(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round vectors to bytes. Returns the bytes, and the scale of each vector."""
    scales = np.maximum(np.abs(vectors).max(axis=-1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(vectors / scales[..., None]).astype(np.int8), scales


def pack(vectors: Vectors) -> list[bytes]:
    """Pack an array (issues, …, dimensions) into a blob per issue: scales, then bytes."""
    values, scales = rounded(vectors)
    return [scale.astype("<f4").tobytes() + row.tobytes() for scale, row in zip(scales, values, strict=True)]


def unpack(blobs: Sequence[bytes], each: int = 2) -> Vectors:
    """Undo `pack`, up to rounding. Each blob holds `each` vectors; returns (blobs, each, dimensions)."""
    if not blobs:
        return np.zeros((0, each, 0), dtype=np.float32)
    raw = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    scales = raw[:, : 4 * each].copy().view("<f4")
    values = raw[:, 4 * each :].view(np.int8).reshape(len(blobs), each, -1)
    return np.asarray(values.astype(np.float32) * scales[:, :, None], dtype=np.float32)


def subtract_centre(vectors: Vectors, centre: NDArray[np.float64]) -> Vectors:
    """Subtract the direction that all texts of a repository share, and scale to length one again."""
    return unit(vectors - centre.astype(np.float32)) if centre.size else vectors


def read_vectors(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, bytes]:
    return dict(fetch(connection, repo_id, (table.c.number, table.c.vectors), table.c.number, numbers))


class Neighbours:
    """A repository's vectors in memory, as of change number `sequence`. A search compares a text with every vector.

    Arrays grow by copying, so that searches in other threads can go on with the old arrays.
    """

    def __init__(self, state: IndexState) -> None:
        self._model, self._centre = state.model, state.centre
        self.sequence = 0
        self._count = 0
        self._dimensions = state.vector_sum.shape[1]
        self._numbers: Integers = np.zeros(0, dtype=np.int64)
        # Maps an issue's number to the row in the other arrays; -1 for an unknown issue.
        self._row_of: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._values: NDArray[np.int8] = np.zeros((0, 2, self._dimensions), dtype=np.int8)
        self._scales: NDArray[np.float32] = np.zeros((0, 2), dtype=np.float32)
        # The length of the sum of an issue's two vectors; ∞ for a sum of zero.
        self._lengths: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    @property
    def size(self) -> int:
        """How many bytes of memory the arrays take."""
        arrays = (self._numbers, self._row_of, self._values, self._scales, self._lengths)
        return sum(array.nbytes for array in arrays)

    def follows(self, state: IndexState) -> bool:
        """Whether the vectors have the state's model, dimensions and centre, so that `refresh` is enough."""
        same = self._model == state.model and self._dimensions == state.vector_sum.shape[1]
        return same and np.array_equal(self._centre, state.centre)

    def refresh(self, connection: sa.Connection, repo_id: int, state: IndexState) -> None:
        """Read the vectors that are new since the last refresh, and forget those of removed issues."""
        if not self._count:
            # Make room at once: growing step by step would take twice the memory.
            self._make_room(state.vectors)
        newer = {"repo_id": repo_id, "after": self.sequence}
        for rows in connection.execute(_NEWER, newer, execution_options={"yield_per": _ROWS_AT_ONCE}).partitions():
            self._add(np.array([row[0] for row in rows]), unpack([row[1] for row in rows]))
        held = np.count_nonzero(self._numbers[: self._count] != _GONE)
        if held > state.vectors:
            stored = connection.execute(sa.select(table.c.number).where(table.c.repo_id == repo_id)).scalars().all()
            self._keep_only(np.array(stored, dtype=np.int64))
        self.sequence = state.sequence

    def nearest(self, query: Vectors, wanted: Mapping[VectorKind, int], below: int | None) -> dict[VectorKind, Scores]:
        """For each kind of vector, find the `wanted[kind]` issues that are closest to a text.

        `query` has the text's vectors, (3, dimensions). Only issues with numbers below `below` are found.
        """
        count, (rounded_query, query_scales) = self._count, rounded(query)
        scales = self._scales[:count].T
        # The axes of `products`: the kind of the vector; the query's vector (0: same kind, 1: BOTH); the issue.
        # Products of bytes are exact, so equal texts are equally close.
        products = np.empty((2, 2, count), dtype=np.float32)
        for kind in (VectorKind.TITLE, VectorKind.TEXT):
            queries = rounded_query[[kind, VectorKind.BOTH]]
            products[kind] = cdist(queries, self._values[:count, kind], "dot", out_dtype="float32")
            products[kind] *= scales[kind]
        # BOTH is (TITLE + TEXT) / length, so its product is (TITLE's + TEXT's product) / length.
        cosines = np.stack([products[0, 0], products[1, 0], products[:, 1].sum(axis=0) / self._lengths[:count]])
        cosines *= query_scales[:, None]
        cosines[:, np.flatnonzero(self._numbers[:count] >= (_GONE if below is None else below))] = -np.inf
        return {kind: self._closest(cosines[kind], k) for kind, k in wanted.items()}

    def _closest(self, cosines: NDArray[np.float32], k: int) -> Scores:
        """The `k` highest cosines that are finite."""
        close = np.flatnonzero((cosines >= lower_bound(cosines, k)) & (cosines > -np.inf))
        return Scores(self._numbers[close], cosines[close].astype(np.float64)).best(k)

    def stored(self, numbers: Integers) -> Vectors:
        """The centred vectors of issues, (issues, 3, dimensions), by `VectorKind`; zero for unknown issues."""
        row_of, values, scales, lengths = self._row_of, self._values, self._scales, self._lengths
        vectors = np.zeros((len(numbers), len(VectorKind), self._dimensions), dtype=np.float32)
        if len(row_of):
            rows = np.where(numbers < len(row_of), row_of.take(numbers, mode="clip"), -1)
            np.multiply(values.take(rows, axis=0), scales.take(rows, axis=0)[:, :, None], out=vectors[:, :2])
            np.add(vectors[:, VectorKind.TITLE], vectors[:, VectorKind.TEXT], out=vectors[:, VectorKind.BOTH])
            vectors[:, VectorKind.BOTH] /= lengths.take(rows)[:, None]
            vectors[rows < 0] = 0
        return vectors

    def _make_room(self, count: int) -> None:
        """Make room for this many issues."""
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
        values, scales = rounded(subtract_centre(pairs, self._centre))
        self._values[rows], self._scales[rows] = values, scales
        lengths = np.linalg.norm((values * scales[:, :, None]).sum(axis=1), axis=1)
        self._lengths[rows] = np.where(lengths > 1e-6, lengths, np.float32(np.inf))
        self._numbers[rows] = numbers
        self._row_of[numbers] = rows
        self._count = count

    def _keep_only(self, numbers: Integers) -> None:
        """Forget removed issues. Their rows stay, but no search finds them."""
        known = self._numbers[: self._count]
        removed = np.flatnonzero(~np.isin(known, numbers) & (known != _GONE))
        self._row_of[known[removed]] = -1
        self._values[removed] = 0
        self._numbers[removed] = _GONE


def grown(array: NDArray[Any], length: int, fill: int = 0) -> NDArray[Any]:
    """The array, or if it is shorter than `length`, a copy that is longer by at least half."""
    have = len(array)
    if length <= have:
        return array
    more = max(length, have + have // 2) - have
    return np.concatenate([array, np.full((more, *array.shape[1:]), fill, dtype=array.dtype)])


#: The centre is computed when the number of vectors reaches this power of two or a higher one.
FIRST_CENTRE = 512


class ModelVectors:
    """The part of an index that uses the embedding model. Hold the repository's lock while you change its vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        #: The model's name, and whether texts leave this machine.
        self.model, self.remote = embedder.name, embedder.remote

    def make(self, analyses: Sequence[Analysis]) -> Vectors:
        """Embed titles and whole texts: (analyses, 2, dimensions). Raises EmbeddingError."""
        texts = [analysis.title for analysis in analyses] + [analysis.text for analysis in analyses]
        vectors = self._embedder.embed(texts)
        return np.stack([vectors[: len(analyses)], vectors[len(analyses) :]], axis=1)

    def check(self, state: IndexState, pair: Vectors) -> None:
        """Raise EmbeddingError if stored vectors have another model, or not the width of `pair`."""
        if state.vectors and (state.model != self.model or _width(state) != pair.shape[-1]):
            raise EmbeddingError("the model was changed, and the issues are being embedded anew")

    def missing(self, connection: sa.Connection, repo_id: int, state: IndexState, limit: int) -> list[int]:
        """The issues that this model has not embedded, newest first."""
        terms, stored = indexed_terms.c, table.c
        query = sa.select(terms.number).where(terms.repo_id == repo_id)
        if state.model == self.model:
            joined = sa.and_(stored.repo_id == terms.repo_id, stored.number == terms.number)
            query = query.outerjoin(table, joined).where(stored.number.is_(None))
        return list(connection.execute(query.order_by(terms.number.desc()).limit(limit)).scalars())

    def put(
        self, connection: sa.Connection, repo_id: int, state: IndexState, numbers: Sequence[int], vectors: Vectors
    ) -> None:
        """Write vectors and count them in the state. Drops vectors of another model or width."""
        other_width = state.model == self.model and _width(state) not in (0, vectors.shape[-1])
        if other_width:
            _log.warning(
                "%s answers with %d dimensions, not with %d as before: repository %d is embedded anew",
                self.model,
                vectors.shape[-1],
                _width(state),
                repo_id,
            )
        if other_width or state.model != self.model:
            connection.execute(sa.delete(table).where(table.c.repo_id == repo_id))
            state.model, state.vectors, state.vector_sum, state.centre = self.model, 0, NO_VECTORS, NO_VECTORS
        drop(connection, repo_id, state, numbers)
        blobs = pack(vectors)
        rows = [(repo_id, number, state.sequence, blob) for number, blob in zip(numbers, blobs, strict=True)]
        upsert(connection, table, rows)
        before = state.vectors
        state.vectors += len(numbers)
        # Add up the vectors as they are stored, so that they can be subtracted exactly.
        total = unpack(blobs).sum(axis=0, dtype=np.float64)
        state.vector_sum = state.vector_sum + total if state.vector_sum.size else total
        if state.vectors >= FIRST_CENTRE and state.vectors.bit_length() > before.bit_length():
            state.centre = state.vector_sum / state.vectors


def _width(state: IndexState) -> int:
    """How many dimensions the stored vectors have; 0 without vectors."""
    return int(state.vector_sum.shape[1])


def drop(connection: sa.Connection, repo_id: int, state: IndexState, numbers: Collection[int]) -> None:
    """Delete the vectors of these issues and subtract them from the state."""
    old = read_vectors(connection, repo_id, numbers)
    if old:
        state.vector_sum = state.vector_sum - unpack(list(old.values())).sum(axis=0, dtype=np.float64)
        state.vectors -= len(old)
        delete(connection, table, repo_id, "number", list(old))
