"""Vectors of issues: two each, of the title and of the whole text, kept as bytes with a scale.

Rounding to a byte moves a cosine by less than 0.01, and takes a quarter of the space.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index.database import fetch
from bot.index.embedding.protocol import unit
from bot.store.index_tables import indexed_terms
from bot.store.index_tables import indexed_vectors as table

Vectors = NDArray[np.float32]

# OpenBLAS works in one thread on up to 2¹⁸ multiplications, as those of so many vectors of 256 dimensions with as many.
_BLOCK = 32


class Kind(IntEnum):
    """What a vector stands for. `BOTH` is between the other two, and is not stored."""

    TITLE = 0
    TEXT = 1
    BOTH = 2


def rounded(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors as bytes, and the scale of each."""
    scales = np.maximum(np.abs(vectors).max(axis=-1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(vectors / scales[..., None]).astype(np.int8), scales


def pack(vectors: Vectors) -> list[bytes]:
    """(issues, 2, dimensions) to a blob for each issue: the two scales, then the bytes."""
    values, scales = rounded(vectors)
    return [scale.astype("<f4").tobytes() + row.tobytes() for scale, row in zip(scales, values, strict=True)]


def unpack(blobs: Sequence[bytes]) -> Vectors:
    """The inverse of `pack`, up to rounding."""
    if not blobs:
        return np.zeros((0, 2, 0), dtype=np.float32)
    raw = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    scales = raw[:, :8].copy().view("<f4")
    values = raw[:, 8:].view(np.int8).reshape(len(blobs), 2, -1)
    return np.asarray(values.astype(np.float32) * scales[:, :, None], dtype=np.float32)


def around(vectors: Vectors, centre: NDArray[np.float64]) -> Vectors:
    """Unit vectors without what all have in common.

    The texts of one repository point into one direction mostly; the cosines of what is left tell more.
    """
    return unit(vectors - centre.astype(np.float32)) if centre.size else vectors


def with_both(vectors: Vectors) -> Vectors:
    """(issues, 2, dimensions) to (issues, 3, dimensions), by `Kind`."""
    return np.concatenate([vectors, unit(vectors.sum(axis=1, keepdims=True))], axis=1)


def cosines(vectors: Vectors, text: Vectors) -> NDArray[np.float64]:
    """(kinds, issues): the cosines of issues, (issues, 2, dimensions), with a text, (3, dimensions), kind by kind."""
    sums = vectors[:, 0] + vectors[:, 1]
    lengths = np.sqrt(np.einsum("nd,nd->n", sums, sums))
    both = np.einsum("nd,d->n", sums, text[Kind.BOTH]) / np.where(lengths > 1e-6, lengths, np.inf)
    own = np.einsum("nkd,kd->kn", vectors, text[: Kind.BOTH])
    return np.stack([*own, both]).astype(np.float64)


def products(rows: Vectors, others: Vectors) -> Vectors:
    """`rows @ others.T`, in blocks so small that BLAS starts no threads.

    For some hundred vectors their waiting for each other takes several times as long as the work. Elsewhere `einsum` is
    used for that reason, which asks no BLAS.
    """
    left, right = _blocks(rows), _blocks(others)
    blocks = np.matmul(left[:, None], right[None].swapaxes(2, 3))
    whole: Vectors = blocks.transpose(0, 2, 1, 3).reshape(len(left) * _BLOCK, len(right) * _BLOCK)
    return whole[: len(rows), : len(others)]


def _blocks(rows: Vectors) -> Vectors:
    """(blocks, _BLOCK, dimensions), the last one filled up with zeros."""
    filled = np.zeros((-(-len(rows) // _BLOCK) * _BLOCK, rows.shape[1]), dtype=np.float32)
    filled[: len(rows)] = rows
    return filled.reshape(-1, _BLOCK, rows.shape[1])


def read(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, bytes]:
    """Stored vectors by number."""
    return dict(fetch(connection, repo_id, (table.c.number, table.c.vectors), table.c.number, numbers))


def missing(connection: sa.Connection, repo_id: int, limit: int, below: int | None) -> list[int]:
    """Numbers of issues that have no vectors, highest first, only those under `below`."""
    joined = sa.and_(table.c.repo_id == indexed_terms.c.repo_id, table.c.number == indexed_terms.c.number)
    query = sa.select(indexed_terms.c.number).outerjoin(table, joined)
    query = query.where(indexed_terms.c.repo_id == repo_id, table.c.number.is_(None))
    if below is not None:
        query = query.where(indexed_terms.c.number < below)
    return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())
