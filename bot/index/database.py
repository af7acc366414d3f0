"""Many rows in one statement, which SQLite and PostgreSQL each have a fast way for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

# Versions of SQLite before 3.32 take 999 parameters.
_MOST_LISTED = 512
_TYPES: dict[type[Any], str] = {
    sa.BigInteger: "bigint",
    sa.Integer: "integer",
    sa.LargeBinary: "bytea",
    sa.Text: "text",
    sa.Boolean: "boolean",
    sa.Float: "double precision",
}


def among(connection: sa.Connection, column: sa.Column[Any], values: Iterable[int]) -> sa.ColumnElement[bool]:
    """`column IN (values)` with one parameter for all, since databases limit how many there may be."""
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
    """Some columns of those rows of a repository whose `column` is one of `keys`, each once and in no order.

    Finding needs a dozen of these within milliseconds, so the statement is made once, the driver is asked directly, and
    rows are plain tuples.
    """
    # In the order of the key, so that neighbours are read together.
    wanted = sorted(set(keys))
    if not wanted:
        return []
    if connection.dialect.name == "sqlite":
        statement, values = _listed(wanted)
        return fetch_all(connection, _fetch(tuple(columns), column, statement), (repo_id, *values))
    return fetch_all(connection, _fetch_each(tuple(columns), column), (wanted, repo_id))


def fetch_all(connection: sa.Connection, statement: str, values: Sequence[Any]) -> list[Any]:
    """The rows of a statement in the driver's own words, as plain tuples. Raises SQLAlchemy's errors."""
    with _cursor(connection, statement) as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def stream(connection: sa.Connection, statement: str, values: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """The same for any number of rows, `size` at a time, for which no more memory is needed. Parameters are `%s`."""
    if connection.dialect.name == "sqlite":
        arguments, statement = {}, statement.replace("%s", "?")
    else:
        # Without a name, PostgreSQL's whole answer would come at once.
        arguments = {"name": "streamed"}
    with _cursor(connection, statement, **arguments) as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(size):
            yield rows


@contextmanager
def _cursor(connection: sa.Connection, statement: str, **arguments: str) -> Iterator[Any]:
    dialect = connection.dialect
    try:
        with closing(connection.connection.cursor(**arguments)) as cursor:
            yield cursor
    except dialect.loaded_dbapi.Error as failure:
        raise sa.exc.DBAPIError.instance(
            statement, None, failure, dialect.loaded_dbapi.Error, hide_parameters=True, dialect=dialect
        ) from failure


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


@lru_cache(maxsize=64)
def _fetch(columns: tuple[sa.Column[Any], ...], column: sa.Column[int], among: str) -> str:
    names = ", ".join(one.name for one in columns)
    return f"SELECT {names} FROM {column.table.name} WHERE repo_id = ? AND {column.name} {among}"  # noqa: S608


@lru_cache(maxsize=64)
def _fetch_each(columns: tuple[sa.Column[Any], ...], column: sa.Column[int]) -> str:
    """The same for PostgreSQL, key by key.

    Of `= ANY` or a join it would believe, until there are statistics of a table that was filled a moment ago, that all
    of a repository's rows had best be read: twenty times as long. OFFSET keeps it from making a join of this. That each
    key is then looked up by the primary key takes that there are no statistics of repositories (migration 0013).
    """
    names = ", ".join(one.name for one in columns)
    return (
        f"SELECT one.* FROM unnest(%s::bigint[]) AS wanted(key), LATERAL (SELECT {names} "  # noqa: S608 (our own names)
        f"FROM {column.table.name} WHERE repo_id = %s AND {column.name} = wanted.key OFFSET 0) AS one"
    )


def _listed(keys: list[int]) -> tuple[str, Sequence[Any]]:
    """SQLite's fastest words for one of some keys: each as a parameter, up to a number that all versions take.

    The last is repeated up to the next power of two, so that few different statements are prepared.
    """
    if len(keys) > _MOST_LISTED:
        return "IN (SELECT value FROM json_each(?))", (json.dumps(keys),)
    size = 1 << (len(keys) - 1).bit_length()
    return f"IN ({', '.join('?' * size)})", keys + keys[-1:] * (size - len(keys))


@lru_cache(maxsize=64)
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
