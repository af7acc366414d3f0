"""Vectors from the text model, a slower embedding model. Searches make a few vectors; the indexer can make the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import Embedder
from bot.search.index import issues
from bot.search.index.analysis import Analysis
from bot.search.index.arrays import Integers
from bot.search.index.boilerplate import RepositoryAnalyser
from bot.search.index.database import fetch, upsert
from bot.search.index.vectors import Vectors, pack, unpack
from bot.storage.engine import write
from bot.storage.schema import indexed_terms, lock_index, text_vectors

Vector = NDArray[np.float32]
NewVectors = dict[int, tuple[int, Vector]]
"""Maps an issue's number to a pair: the sequence number of the change that set the issue's text; the new vector."""


class TextVectors:
    """The part of an index that uses the text model, for all repositories."""

    def __init__(self, engine: sa.Engine, analyser: RepositoryAnalyser, model: Embedder) -> None:
        self._engine = engine
        self._analyser = analyser
        self._model = model

    @property
    def model(self) -> str:
        """The model's name; vectors of other models are not used."""
        return self._model.name

    def of_text(self, analysis: Analysis) -> Vector:
        """The vector of a text. Raises EmbeddingError, as do `of` and `embed_missing`."""
        vector: Vector = self._model.embed([analysis.text])[0]
        return vector

    def of(
        self, connection: sa.Connection, repo_id: int, numbers: Sequence[int], max_new: int | None
    ) -> tuple[Integers, Vectors, NewVectors]:
        """Read the vectors of issues. Make missing vectors for the first `max_new` issues only (None: for all issues).

        Returns the positions in `numbers` with a vector; vectors of shape (positions, dimensions); the new vectors.
        """
        vector_of, changes = self._stored(connection, repo_id, numbers)
        missing = {n: changes[n] for n in numbers[:max_new] if n in changes and n not in vector_of}
        fresh = self._make(connection, repo_id, missing)
        vector_of |= {number: vector for number, (_, vector) in fresh.items()}
        positions = [at for at, number in enumerate(numbers) if number in vector_of]
        width = len(next(iter(vector_of.values()), ()))
        vectors = np.array([vector_of[numbers[at]] for at in positions], dtype=np.float32)
        return np.array(positions, dtype=np.int64), vectors.reshape(len(positions), width), fresh

    def put(self, repo_id: int, fresh: NewVectors) -> None:
        """Store new vectors. Skips an issue if it was removed or its text has changed meanwhile."""
        if not fresh:
            return
        with write(self._engine) as connection:
            lock_index(connection, repo_id)
            changes = issues.text_changes(connection, repo_id, fresh)
            current = [(n, changed, vector) for n, (changed, vector) in fresh.items() if changes.get(n) == changed]
            rows = [(repo_id, n, changed, self.model, pack(v.reshape(1, 1, -1))[0]) for n, changed, v in current]
            upsert(connection, text_vectors, rows)

    def count(self, repo_id: int) -> int:
        """The number of issues that have a vector."""
        with self._engine.connect() as connection:
            counted = sa.select(sa.func.count()).select_from(self._joined())
            return connection.execute(counted.where(indexed_terms.c.repo_id == repo_id)).scalar_one()

    def missing(self, repo_id: int, limit: int) -> list[int]:
        """Issues without a vector, newest first."""
        query = sa.select(indexed_terms.c.number).select_from(self._joined(outer=True))
        query = query.where(indexed_terms.c.repo_id == repo_id, text_vectors.c.number.is_(None))
        with self._engine.connect() as connection:
            return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())

    def embed_missing(self, repo_id: int, limit: int) -> int:
        """Make and store vectors for at most `limit` issues that lack one. Returns the number of issues (0: done)."""
        numbers = self.missing(repo_id, limit)
        if numbers:
            with self._engine.connect() as connection:
                *_, fresh = self.of(connection, repo_id, numbers, None)
            self.put(repo_id, fresh)
        return len(numbers)

    def _joined(self, *, outer: bool = False) -> sa.Join:
        """Join issues with this model's vectors of their current texts."""
        same = [text_vectors.c[name] == indexed_terms.c[name] for name in ("repo_id", "number", "changed")]
        return indexed_terms.join(text_vectors, sa.and_(*same, text_vectors.c.model == self.model), isouter=outer)

    def _stored(
        self, connection: sa.Connection, repo_id: int, numbers: Sequence[int]
    ) -> tuple[dict[int, Vector], dict[int, int]]:
        """The stored vectors of the current texts, and the number of the change that gave each issue its text."""
        changes = issues.text_changes(connection, repo_id, numbers)
        column = text_vectors.c
        wanted = (column.number, column.changed, column.model, column.vector)
        rows = fetch(connection, repo_id, wanted, column.number, numbers)
        vector_of = {
            number: unpack([blob], each=1)[0, 0]
            for number, changed, model, blob in rows
            if model == self.model and changed == changes.get(number)
        }
        return vector_of, changes

    def _make(self, connection: sa.Connection, repo_id: int, changes: Mapping[int, int]) -> NewVectors:
        if not changes:
            return {}
        # `again` leaves out the lines that were boilerplate when the issue was stored.
        analyses = self._analyser.read(repo_id, issues.texts(connection, repo_id, list(changes)), again=True)
        vectors = self._model.embed([analysis.text for analysis in analyses.values()])
        # Round vectors as in the database, so that storing them does not change what a search finds.
        rounded = unpack(pack(vectors[:, None]), each=1)[:, 0]
        return {number: (changes[number], vector) for number, vector in zip(analyses, rounded, strict=True)}
