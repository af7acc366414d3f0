"""The base class of the store's parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.storage.engine import write


class Part:
    """A group of related tables. Thread safe: each call takes a connection of its own."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _all(self, query: sa.Select[Any]) -> Sequence[Any]:
        with self._engine.connect() as connection:
            return connection.execute(query).all()

    def _first(self, query: sa.Select[Any]) -> Any | None:
        with self._engine.connect() as connection:
            return connection.execute(query).first()

    def _scalar(self, query: sa.Select[Any]) -> Any | None:
        with self._engine.connect() as connection:
            return connection.execute(query).scalar()

    def _change(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        """Write by one statement; returns how many rows it changed, which drivers report unreliably for an INSERT."""
        with write(self._engine) as connection:
            return connection.execute(statement).rowcount

    def _write(self, insert: Any) -> bool:
        """Run an INSERT or upsert; whether it wrote a row."""
        with write(self._engine) as connection:
            return connection.execute(insert.returning(sa.literal_column("1"))).first() is not None

    def _insert(self, table: sa.Table) -> Any:
        """An INSERT with ON CONFLICT, which both databases spell alike and SQLAlchemy keeps apart."""
        return sqlite.insert(table) if self._engine.dialect.name == "sqlite" else postgresql.insert(table)

    def _upsert(
        self,
        table: sa.Table,
        key: Mapping[str, Any],
        values: Mapping[str, Any],
        where: sa.ColumnElement[bool] | None = None,
    ) -> Any:
        """An INSERT of a row, or an UPDATE of the one with that key, if `where` holds for it."""
        insert = self._insert(table).values(**key, **values)
        return insert.on_conflict_do_update(index_elements=list(key), set_=values, where=where)
