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


class Kind(IntEnum):
    """What a vector stands for. `BOTH` is between the other two, and is not stored."""

    TITLE = 0
    TEXT = 1
    BOTH = 2


def pack(vectors: Vectors) -> list[bytes]:
    """(issues, 2, dimensions) to a blob for each issue: the two scales, then the bytes."""
    scales = np.maximum(np.abs(vectors).max(axis=2), 1e-12).astype("<f4") / np.float32(127)
    rounded = np.rint(vectors / scales[:, :, None]).astype(np.int8)
    return [scale.tobytes() + values.tobytes() for scale, values in zip(scales, rounded, strict=True)]


def unpack(blobs: Sequence[bytes]) -> Vectors:
    """The inverse of `pack`, up to rounding."""
    if not blobs:
        return np.zeros((0, 2, 0), dtype=np.float32)
    raw = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    scales = raw[:, :8].copy().view("<f4")
    values = raw[:, 8:].view(np.int8).reshape(len(blobs), 2, -1)
    return np.asarray(values.astype(np.float32) * scales[:, :, None], dtype=np.float32)


def centred(vectors: Vectors, centre: NDArray[np.float64]) -> Vectors:
    """(issues, 2, dimensions) to (issues, 3, dimensions), by `Kind`: unit vectors without what all have in common.

    The texts of one repository point into one direction mostly; the cosines of what is left tell more.
    """
    moved = unit(vectors - centre.astype(np.float32)) if centre.size else vectors
    return np.concatenate([moved, unit(moved.sum(axis=1, keepdims=True))], axis=1)


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
