"""What all parts of the store share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.store.database.engine import write


class Part:
    """A group of related tables. Safe to use from several threads: each call takes a connection of its own.

    What needs more than one statement takes a connection or `write` itself.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _all(self, query: sa.Select[Any]) -> Sequence[Any]:
        """All rows."""
        with self._engine.connect() as connection:
            return connection.execute(query).all()

    def _first(self, query: sa.Select[Any]) -> Any | None:
        """The first row."""
        with self._engine.connect() as connection:
            return connection.execute(query).first()

    def _scalar(self, query: sa.Select[Any]) -> Any | None:
        """The first column of the first row."""
        with self._engine.connect() as connection:
            return connection.execute(query).scalar()

    def _change(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        """Write by one statement; how many rows that changed, which of an INSERT drivers do not tell reliably."""
        with write(self._engine) as connection:
            return connection.execute(statement).rowcount

    def _write(self, insert: Any) -> bool:
        """Write a row, or over one, where nothing stands against it; whether that was done."""
        with write(self._engine) as connection:
            return connection.execute(insert.returning(sa.literal_column("1"))).first() is not None

    def _insert(self, table: sa.Table) -> Any:
        """An INSERT that knows ON CONFLICT, which both databases spell alike and SQLAlchemy keeps apart."""
        return sqlite.insert(table) if self._engine.dialect.name == "sqlite" else postgresql.insert(table)

    def _upsert(
        self,
        table: sa.Table,
        key: Mapping[str, Any],
        values: Mapping[str, Any],
        where: sa.ColumnElement[bool] | None = None,
    ) -> Any:
        """An INSERT of a row, or where one with that key is there (and `where` holds) an UPDATE of it."""
        insert = self._insert(table).values(**key, **values)
        return insert.on_conflict_do_update(index_elements=list(key), set_=values, where=where)
