"""What the text model makes of stored issues: kept once made, and made for those that a find looks at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import Embedder
from bot.search.index import issues
from bot.search.index.analysis import Analysis
from bot.search.index.database import fetch, upsert
from bot.search.index.packing import Integers
from bot.search.index.reader import Reader
from bot.search.index.vectors import rounded
from bot.storage.engine import write
from bot.storage.schema import indexed_terms, lock_index, text_vectors

Vector = NDArray[np.float32]
Fresh = dict[int, tuple[int, Vector]]
"""Vectors that were made just now: number → the change in which the issue got the text, and the vector."""


class TextVectors:
    """The part of an index that knows the text model. One for all repositories; shares its engine and its reader."""

    def __init__(self, engine: sa.Engine, reader: Reader, model: Embedder) -> None:
        self._engine = engine
        self._reader = reader
        self._model = model

    @property
    def model(self) -> str:
        """The name of the model; what another one has made is not used."""
        return self._model.name

    def of_text(self, analysis: Analysis) -> Vector:
        """The vector of a text. Raises EmbeddingError, like all that follow."""
        vector: Vector = self._model.embed([analysis.text])[0]
        return vector

    def of(
        self, connection: sa.Connection, repo_id: int, numbers: Sequence[int], most: int | None
    ) -> tuple[Integers, Vector, Fresh]:
        """The places of those of the numbers that have a vector, (places, dimensions), and those that had to be made:
        of the first `most` numbers, or of all.
        """
        found, changes = self._stored(connection, repo_id, numbers)
        missing = {n: changes[n] for n in numbers[:most] if n in changes and n not in found}
        fresh = self._make(connection, repo_id, missing)
        found |= {number: vector for number, (_, vector) in fresh.items()}
        there = [place for place, number in enumerate(numbers) if number in found]
        width = len(next(iter(found.values()), ()))
        vectors = np.array([found[numbers[place]] for place in there], dtype=np.float32).reshape(len(there), width)
        return np.array(there, dtype=np.int64), vectors, fresh

    def keep(self, repo_id: int, fresh: Fresh) -> None:
        """Store vectors that were made, but for those of issues that have another text by now, or are gone."""
        if not fresh:
            return
        with write(self._engine) as connection:
            lock_index(connection, repo_id)
            now = issues.changes(connection, repo_id, fresh)
            current = {number: made for number, made in fresh.items() if now.get(number) == made[0]}
            rows = [(repo_id, n, changed, self.model, _packed(vector)) for n, (changed, vector) in current.items()]
            upsert(connection, text_vectors, rows)

    def count(self, repo_id: int) -> int:
        """How many issues of a repository have one."""
        with self._engine.connect() as connection:
            mine = sa.and_(indexed_terms.c.repo_id == repo_id, text_vectors.c.model == self.model)
            return connection.execute(sa.select(sa.func.count()).select_from(_current()).where(mine)).scalar_one()

    def missing(self, repo_id: int, limit: int) -> list[int]:
        """Numbers of issues that have none, newest first."""
        joined = _current(outer=True, also=text_vectors.c.model == self.model)
        query = sa.select(indexed_terms.c.number).select_from(joined)
        query = query.where(indexed_terms.c.repo_id == repo_id, text_vectors.c.number.is_(None))
        with self._engine.connect() as connection:
            return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())

    def embed_missing(self, repo_id: int, limit: int) -> int:
        """Make some of those that are missing; returns how many. To be called until there are none."""
        numbers = self.missing(repo_id, limit)
        if numbers:
            with self._engine.connect() as connection:
                *_, fresh = self.of(connection, repo_id, numbers, None)
            self.keep(repo_id, fresh)
        return len(numbers)

    def _stored(
        self, connection: sa.Connection, repo_id: int, numbers: Sequence[int]
    ) -> tuple[dict[int, Vector], dict[int, int]]:
        """The vectors that are there, and in which change each of the issues got its text."""
        changes = issues.changes(connection, repo_id, numbers)
        table = text_vectors.c
        rows = fetch(
            connection, repo_id, (table.number, table.changed, table.model, table.vector), table.number, numbers
        )
        found = {
            number: _unpacked(blob)
            for number, changed, model, blob in rows
            if model == self.model and changed == changes.get(number)
        }
        return found, changes

    def _make(self, connection: sa.Connection, repo_id: int, changes: Mapping[int, int]) -> Fresh:
        if not changes:
            return {}
        analyses = self._reader.read_again(repo_id, issues.texts(connection, repo_id, list(changes)))
        made = self._model.embed([analysis.text for analysis in analyses.values()])
        # As they are stored, so that an answer is the same before and after.
        return {n: (changes[n], _unpacked(_packed(vector))) for n, vector in zip(analyses, made, strict=True)}


def _current(*, outer: bool = False, also: sa.ColumnElement[bool] | None = None) -> sa.Join:
    """Issues with their vectors, where these are of the text that they have now."""
    same = [
        getattr(text_vectors.c, name) == getattr(indexed_terms.c, name) for name in ("repo_id", "number", "changed")
    ]
    return indexed_terms.join(text_vectors, sa.and_(*same, *([] if also is None else [also])), isouter=outer)


def _packed(vector: Vector) -> bytes:
    """A scale and a byte for each dimension."""
    values, scale = rounded(vector[None])
    return scale.astype("<f4").tobytes() + values.tobytes()


def _unpacked(blob: bytes) -> Vector:
    scale = np.frombuffer(blob, dtype="<f4", count=1)
    return np.asarray(np.frombuffer(blob, dtype=np.int8, offset=4).astype(np.float32) * scale, dtype=np.float32)
