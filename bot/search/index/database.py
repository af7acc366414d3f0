"""Reads and writes many rows fast, on SQLite and PostgreSQL. Stores each repository's `IndexState`.

Each change of the index holds the repository's lock (`lock_index`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects import postgresql

from bot.storage.engine import database_time
from bot.storage.schema import index_states, lock_index

_POSTGRESQL_TYPES: dict[type[Any], str] = {
    sa.BigInteger: "bigint",
    sa.Integer: "integer",
    sa.LargeBinary: "bytea",
    sa.Text: "text",
    sa.Boolean: "boolean",
    sa.Float: "double precision",
}


def among(connection: sa.Connection, column: sa.Column[Any], values: Iterable[int]) -> sa.ColumnElement[bool]:
    """`column IN (values)` with a single parameter, because databases limit the number of parameters."""
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
    """Select columns of a repository's rows whose `column` is one of `keys`: each row once, in no particular order.

    On PostgreSQL the statement looks up each key separately; OFFSET prevents a join. With `= ANY` or a join, PostgreSQL
    would read all rows of a repository while the table has no statistics: twenty times slower.
    """
    wanted = sorted(set(keys))
    if not wanted:
        return []
    names, table_name = ", ".join(selected.name for selected in columns), column.table.name
    if connection.dialect.name == "sqlite":
        listed = "(SELECT value FROM json_each(?))"
        statement = f"SELECT {names} FROM {table_name} WHERE repo_id = ? AND {column.name} IN {listed}"  # noqa: S608
        return read_on_sqlite(connection, statement, (repo_id, f"[{','.join(map(str, wanted))}]"))
    statement = (
        f"SELECT one.* FROM unnest(%s::bigint[]) AS wanted(key), LATERAL (SELECT {names} "  # noqa: S608
        f"FROM {table_name} WHERE repo_id = %s AND {column.name} = wanted.key OFFSET 0) AS one"
    )
    return list(connection.exec_driver_sql(statement, (wanted, repo_id)).all())


def read_on_sqlite(connection: sa.Connection, statement: str, values: tuple[Any, ...]) -> list[Any]:
    """Read without SQLAlchemy: its own work takes longer than SQLite's read."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        return driver.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        # Raise SQLAlchemy's error. Do not repeat the statement with SQLAlchemy: after some errors,
        # such as a full disk, SQLite has rolled back the transaction.
        raise sa.exc.DBAPIError.instance(statement, None, error, sqlite3.Error, hide_parameters=True) from error


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write whole rows, which replace stored rows with the same primary keys. Values are in the columns' order."""
    if not rows:
        return
    statement = _upsert_sql(table, connection.dialect.name)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(statement, list(rows))
    else:
        connection.exec_driver_sql(statement, tuple(list(column) for column in zip(*rows, strict=True)))


def delete(connection: sa.Connection, table: sa.Table, repo_id: int, column: str, keys: Sequence[int]) -> None:
    """Delete the rows of a repository whose `column` is one of `keys`."""
    if keys:
        where = sa.and_(table.c.repo_id == repo_id, among(connection, table.c[column], keys))
        connection.execute(sa.delete(table).where(where))


def _upsert_sql(table: sa.Table, dialect: str) -> str:
    names = [column.name for column in table.columns]
    keys = [column.name for column in table.primary_key.columns]
    if dialect == "sqlite":
        source = f"VALUES ({', '.join('?' for _ in names)})"
    else:
        # Send each column as one array, in binary (`%b`), in one round trip.
        arrays = ", ".join(f"%b::{_POSTGRESQL_TYPES[type(column.type)]}[]" for column in table.columns)
        source = f"SELECT * FROM unnest({arrays})"  # noqa: S608 (only names of our own tables)
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    return (
        f"INSERT INTO {table.name} ({', '.join(names)}) {source} "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    )


NO_KEYS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
NO_VECTORS: NDArray[np.float64] = np.zeros((0, 0))


@dataclass(slots=True)
class IndexState:
    """One repository's totals.

    `sequence` is the number of the last change. Term numbers are below `next_term`. `lengths` has the total length of
    each field, by position. `vectors` counts the issues with vectors of `model`; `vector_sum` adds up these vectors.
    Searches subtract `centre` from vectors. `vector_sum` and `centre` have the shape (2, dimensions): first the titles,
    then the texts. `reading` is the version of the analyser that read the issues.
    """

    sequence: int = 0
    issues: int = 0
    next_term: int = 1
    lengths: dict[int, int] = field(default_factory=dict)
    model: str = ""
    vectors: int = 0
    vector_sum: NDArray[np.float64] = field(default_factory=lambda: NO_VECTORS)
    centre: NDArray[np.float64] = field(default_factory=lambda: NO_VECTORS)
    reading: int = 0


def load_state(connection: sa.Connection, repo_id: int) -> IndexState:
    """Read the state; a repository that is not indexed has an empty state."""
    rows = fetch(connection, repo_id, tuple(index_states.columns), index_states.c.repo_id, [repo_id])
    if not rows:
        return IndexState()
    _, sequence, issues, next_term, lengths, model, vectors, total, centre, reading = rows[0]
    by_position = {int(position): length for position, length in json.loads(lengths).items()}
    vector_sum, centre = _matrix(total), _matrix(centre)
    return IndexState(sequence, issues, next_term, by_position, model, vectors, vector_sum, centre, reading)


def lock_state(connection: sa.Connection, repo_id: int) -> IndexState:
    """Lock a repository until the transaction ends. Returns its state with the next sequence number."""
    lock_index(connection, repo_id)
    state = load_state(connection, repo_id)
    state.sequence = (state.sequence or _first_sequence(connection)) + 1
    return state


def save_state(connection: sa.Connection, repo_id: int, state: IndexState) -> None:
    matrices = (array.astype("<f8").tobytes() for array in (state.vector_sum, state.centre))
    totals = (state.sequence, state.issues, state.next_term, json.dumps(state.lengths), state.model, state.vectors)
    upsert(connection, index_states, [(repo_id, *totals, *matrices, state.reading)])


def _first_sequence(connection: sa.Connection) -> int:
    """The time in ms. It exceeds all sequence numbers of an erased index: caches may remember these numbers."""
    now: float = connection.execute(sa.select(database_time(connection.engine))).scalar_one()
    return int(now * 1_000)


def _matrix(blob: bytes) -> NDArray[np.float64]:
    return np.frombuffer(blob, dtype="<f8").reshape(2, -1) if blob else NO_VECTORS
