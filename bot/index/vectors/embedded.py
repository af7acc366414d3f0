"""Vectors of the issues of all repositories, of the model that this process has: made, put in and taken out."""

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
from bot.index.vectors.models import Prevailing
from bot.index.vectors.vectors import Vectors
from bot.store.tables.index import indexed_terms, indexed_vectors

_log = logging.getLogger(__name__)

#: Vectors are centred from so many on, and anew whenever there are twice as many.
FIRST_CENTRE = 512


class Embedded:
    """The part of an index that knows the model. What changes vectors is called with the repository's row locked."""

    def __init__(self, embedder: Embedder, about: About) -> None:
        self._embedder = embedder
        self._about = about
        #: The name of this process's model, and whether an endpoint is asked.
        self.model, self.remote = embedder.name, embedder.remote
        self._prevailing = Prevailing()

    def allowed(self, repo_id: int) -> bool:
        """Whether the repository's texts may be given to the model."""
        return self._about.may_embed(repo_id)

    def may_write(self, connection: sa.Connection, repo_id: int, state: State, *, take: bool = False) -> bool:
        """Whether vectors of this model may be written, in the place of those of another if there are any."""
        return self._prevailing.may_write(connection, repo_id, state, self.model, take=take)

    def outdone(self, repo_id: int) -> bool:
        """Whether they might not, when that was looked at last."""
        return self._prevailing.outdone(repo_id)

    def make(self, analyses: Sequence[Analysis]) -> Vectors:
        """The two vectors of each, (texts, 2, dimensions). Raises EmbeddingError."""
        texts = [analysis.title for analysis in analyses] + [analysis.text for analysis in analyses]
        both = self._embedder.embed(texts)
        return np.stack([both[: len(analyses)], both[len(analyses) :]], axis=1)

    def comparable(self, repo_id: int, stored: str) -> None:
        """Raises EmbeddingError where the repository's vectors are those of another model, `stored`."""
        if stored in ("", self.model):
            return
        if self._prevailing.outdone(repo_id):
            raise EmbeddingError("the vectors are of a model that was chosen later, which only other workers have")
        raise _changed()

    def check(self, state: State, pair: Vectors) -> None:
        """Raises EmbeddingError where a text's vectors cannot be compared with those of the repository.

        Another model's can have come while they were made; and an endpoint can give a name to another model.
        """
        if state.vectors and (state.model != self.model or _width(state) != pair.shape[-1]):
            raise _changed()

    def missing(self, connection: sa.Connection, repo_id: int, state: State, limit: int) -> list[int]:
        """Numbers of issues that the model has not embedded and may, highest first."""
        if not self.may_write(connection, repo_id, state):
            return []
        if state.model == self.model:
            return vectors.missing(connection, repo_id, limit) if state.vectors < state.issues else []
        query = sa.select(indexed_terms.c.number).where(indexed_terms.c.repo_id == repo_id)
        return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())

    def put(self, connection: sa.Connection, repo_id: int, state: State, numbers: Sequence[int], made: Vectors) -> None:
        """Write vectors, and count them in the state; all of another model go first, also if it has the same name."""
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
        # Of what was stored, so that it can be taken back exactly.
        total = vectors.unpack(blobs).sum(axis=0, dtype=np.float64)
        state.vector_sum = state.vector_sum + total if state.vector_sum.size else total
        if state.vectors >= FIRST_CENTRE and state.vectors.bit_length() > before.bit_length():
            state.centre = state.vector_sum / state.vectors


def _width(state: State) -> int:
    """How many dimensions the repository's vectors have, 0 where there were none yet."""
    return int(state.vector_sum.shape[1])


def _changed() -> EmbeddingError:
    return EmbeddingError("the model was changed, and the issues are being embedded anew")


def drop(connection: sa.Connection, repo_id: int, state: State, numbers: Collection[int]) -> None:
    """Take vectors out, of whatever model, and out of the state."""
    old = vectors.read(connection, repo_id, numbers)
    if old:
        state.vector_sum = state.vector_sum - vectors.unpack(list(old.values())).sum(axis=0, dtype=np.float64)
        state.vectors -= len(old)
        delete(connection, indexed_vectors, repo_id, "number", list(old))
