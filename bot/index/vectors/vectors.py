"""Vectors of issues: two each, of the title and of the whole text, kept as bytes with a scale.

Rounding to a byte moves a cosine by less than 0.01, and takes a quarter of the space.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.embedding.protocol import unit
from bot.index.database import fetch
from bot.store.tables.index import indexed_terms
from bot.store.tables.index import indexed_vectors as table

Vectors = NDArray[np.float32]


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


def lengths_of_both(vectors: Vectors) -> Vectors:
    """(issues, 2, dimensions) to (issues,): what their sums are divided by for unit vectors; ∞ where they are zero."""
    lengths = np.linalg.norm(vectors.sum(axis=1), axis=1)
    return np.where(lengths > 1e-6, lengths, np.float32(np.inf))


def cosines(pairs: Vectors, around: Vectors, scales: Vectors, lengths: Vectors) -> Vectors:
    """(3, issues), by `Kind`: the cosines of issues' vectors with a text's, (3, dimensions).

    `pairs` are (issues, 2, dimensions), to be multiplied by `scales`, (issues, 2); `lengths` are `lengths_of_both`.
    """

    def one(own: Kind, asked: Kind) -> Vectors:
        product: Vectors = pairs[:, own] @ around[asked] * scales[:, own]
        return product

    both = (one(Kind.TITLE, Kind.BOTH) + one(Kind.TEXT, Kind.BOTH)) / lengths
    return np.stack([one(Kind.TITLE, Kind.TITLE), one(Kind.TEXT, Kind.TEXT), both])


def read(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, bytes]:
    """Stored vectors by number."""
    return dict(fetch(connection, repo_id, (table.c.number, table.c.vectors), table.c.number, numbers))


def missing(connection: sa.Connection, repo_id: int, limit: int) -> list[int]:
    """Numbers of issues that have no vectors, highest first."""
    joined = sa.and_(table.c.repo_id == indexed_terms.c.repo_id, table.c.number == indexed_terms.c.number)
    query = sa.select(indexed_terms.c.number).outerjoin(table, joined)
    query = query.where(indexed_terms.c.repo_id == repo_id, table.c.number.is_(None))
    return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())
