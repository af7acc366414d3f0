"""Statements over many rows at once, each in the form that is fast on SQLite or on PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

_TYPES: dict[type[Any], str] = {
    sa.BigInteger: "bigint",
    sa.Integer: "integer",
    sa.LargeBinary: "bytea",
    sa.Text: "text",
    sa.Boolean: "boolean",
    sa.Float: "double precision",
}


def among(connection: sa.Connection, column: sa.Column[Any], values: Iterable[int]) -> sa.ColumnElement[bool]:
    """`column IN (values)` with a single parameter, because databases limit how many a statement may have."""
    if connection.dialect.name == "sqlite":
        each = sa.func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(sa.select(each.c.value))
    return column == sa.func.any(sa.literal(list(values), postgresql.ARRAY(sa.BigInteger())))


def fetch(
    connection: sa.Connection,
    repo_id: int,
    columns: Sequence[sa.Column[Any]],
    column: sa.Column[int],
    keys: Iterable[int],
) -> list[Any]:
    """Select columns of a repository's rows whose `column` is one of `keys`: each row once, in no order.

    PostgreSQL looks up key by key. With `= ANY` or a join it reads all rows of a repository until it has statistics of
    the new table, which takes twenty times as long. OFFSET keeps the planner from turning this into a join.
    """
    # In the order of the key, so that neighbours are read together.
    wanted = sorted(set(keys))
    if not wanted:
        return []
    names, table = ", ".join(one.name for one in columns), column.table.name
    if connection.dialect.name == "sqlite":
        listed = "(SELECT value FROM json_each(?))"
        statement = f"SELECT {names} FROM {table} WHERE repo_id = ? AND {column.name} IN {listed}"  # noqa: S608
        values: tuple[Any, ...] = (repo_id, json.dumps(wanted))
    else:
        statement = (
            f"SELECT one.* FROM unnest(%s::bigint[]) AS wanted(key), LATERAL (SELECT {names} "  # noqa: S608
            f"FROM {table} WHERE repo_id = %s AND {column.name} = wanted.key OFFSET 0) AS one"
        )
        values = (wanted, repo_id)
    return list(map(tuple, connection.exec_driver_sql(statement, values)))


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write whole rows, in the order of the table's columns, over those with the same primary key."""
    if not rows:
        return
    statement = _upsert(table, connection.dialect.name)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(statement, list(rows))
    else:
        connection.exec_driver_sql(statement, tuple(list(column) for column in zip(*rows, strict=True)))


def delete(connection: sa.Connection, table: sa.Table, repo_id: int, column: str, keys: Sequence[int]) -> None:
    """Delete the rows of a repository whose `column` is one of `keys`."""
    if keys:
        mine = sa.and_(table.c.repo_id == repo_id, among(connection, table.c[column], keys))
        connection.execute(sa.delete(table).where(mine))


def _upsert(table: sa.Table, dialect: str) -> str:
    names = [column.name for column in table.columns]
    keys = [column.name for column in table.primary_key.columns]
    if dialect == "sqlite":
        source = f"VALUES ({', '.join('?' for _ in names)})"
    else:
        # Each column as one array: one round trip, and the values in binary.
        arrays = ", ".join(f"%b::{_TYPES[type(column.type)]}[]" for column in table.columns)
        source = f"SELECT * FROM unnest({arrays})"  # noqa: S608 (only names of our own tables)
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    return (
        f"INSERT INTO {table.name} ({', '.join(names)}) {source} "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    )
