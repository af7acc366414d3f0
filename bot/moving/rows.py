"""The rows of a table in an order that both databases agree on: to be moved and compared piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

Row = dict[str, Any]

BATCH = 500


def batches(connection: sa.Connection, table: sa.Table, after: Sequence[Any] | None) -> Iterator[list[Row]]:
    """The rows behind a key (None: all), in the order of the keys, some at a time. Needs a primary key."""
    key = _order(connection, table)
    while True:
        query = sa.select(table).order_by(*key).limit(BATCH)
        if after is not None:
            query = query.where(sa.tuple_(*key) > sa.tuple_(*map(sa.literal, after)))
        rows = [dict(row) for row in connection.execute(query).mappings()]
        if rows:
            after = key_of(table, rows[-1])
            yield rows
        if len(rows) < BATCH:
            return


def everything(connection: sa.Connection, table: sa.Table) -> Iterator[Row]:
    """All rows, in the order of the key, or of all columns where there is none; as the target can store them."""
    query = sa.select(table).order_by(*_order(connection, table)).execution_options(yield_per=BATCH)
    for row in connection.execute(query).mappings():
        yield storable(dict(row))


def key_of(table: sa.Table, row: Row) -> list[Any]:
    """The values of the primary key."""
    return [row[column.name] for column in table.primary_key.columns]


def storable(row: Row) -> Row:
    """The row without what PostgreSQL cannot hold and SQLite can: NUL in a text."""
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()}


def _order(connection: sa.Connection, table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """The columns that rows are ordered by; texts by their bytes, as SQLite does."""
    columns: Sequence[sa.ColumnElement[Any]] = list(table.primary_key.columns) or list(table.columns)
    if connection.dialect.name == "sqlite":
        return list(columns)
    return [sa.collate(one, "C") if isinstance(one.type, sa.String) else one for one in columns]
