"""Embeds issues with the configured model, and keeps a repository's stored vectors to that one model."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

import numpy as np
import sqlalchemy as sa

from bot.embedding import Embedder, EmbeddingError
from bot.index.analysis import About, Analysis
from bot.index.database import delete, upsert
from bot.index.state import NO_VECTORS, State
from bot.index.vectors import vectors
from bot.index.vectors.vectors import Vectors
from bot.store.tables.index import indexed_terms, indexed_vectors

_log = logging.getLogger(__name__)

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
        terms, stored = indexed_terms.c, indexed_vectors.c
        query = sa.select(terms.number).where(terms.repo_id == repo_id)
        if state.model == self.model:
            joined = sa.and_(stored.repo_id == terms.repo_id, stored.number == terms.number)
            query = query.outerjoin(indexed_vectors, joined).where(stored.number.is_(None))
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
            connection.execute(sa.delete(indexed_vectors).where(indexed_vectors.c.repo_id == repo_id))
            state.model, state.vectors, state.vector_sum, state.centre = self.model, 0, NO_VECTORS, NO_VECTORS
        drop(connection, repo_id, state, numbers)
        blobs = vectors.pack(made)
        rows = [(repo_id, number, state.sequence, blob) for number, blob in zip(numbers, blobs, strict=True)]
        upsert(connection, indexed_vectors, rows)
        before = state.vectors
        state.vectors += len(numbers)
        # Summed as stored, so that it can be subtracted exactly.
        total = vectors.unpack(blobs).sum(axis=0, dtype=np.float64)
        state.vector_sum = state.vector_sum + total if state.vector_sum.size else total
        if state.vectors >= FIRST_CENTRE and state.vectors.bit_length() > before.bit_length():
            state.centre = state.vector_sum / state.vectors


def _width(state: State) -> int:
    """How many dimensions the stored vectors have; 0 before there are any."""
    return int(state.vector_sum.shape[1])


def drop(connection: sa.Connection, repo_id: int, state: State, numbers: Collection[int]) -> None:
    """Delete the vectors of these issues and subtract them from the state."""
    old = vectors.read(connection, repo_id, numbers)
    if old:
        state.vector_sum = state.vector_sum - vectors.unpack(list(old.values())).sum(axis=0, dtype=np.float64)
        state.vectors -= len(old)
        delete(connection, indexed_vectors, repo_id, "number", list(old))
