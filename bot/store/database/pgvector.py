"""Tables for PostgreSQL's extension pgvector, where the server has it.

They are no part of the schema: what is in them follows from the index's vectors (`bot/index/vectors/pgvector.py`), they
are made whenever a process starts on a server that has the extension by then, and without them everything works. So
they are not moved from one database to another, and what they hold goes with the rows that it was made of.
"""

from __future__ import annotations

import logging

import sqlalchemy as sa

from bot.store.database.engine import write
from bot.store.database.failures import why

_log = logging.getLogger(__name__)

_OFFERED = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
# Dropping the extension takes its columns out of tables that stay; and the tables can be another role's.
_THERE = (
    "SELECT count(*) FROM pg_attribute WHERE NOT attisdropped AND attname IN ('title', 'body', 'centre')"
    " AND attrelid IN (to_regclass('pgvector_halves'), to_regclass('pgvector_states'))"
    " AND has_table_privilege(attrelid, 'SELECT') AND has_table_privilege(attrelid, 'INSERT')"
    " AND has_table_privilege(attrelid, 'UPDATE') AND has_table_privilege(attrelid, 'DELETE')"
)
# Whoever writes vectors locks in this order too. A start does not wait long for them: the next one tries again.
_MAKE = (
    "SET LOCAL lock_timeout = '3s'",
    "CREATE EXTENSION IF NOT EXISTS vector",
    # What is left of a dump or an extension that is gone says of itself that it is complete.
    "DROP TABLE IF EXISTS pgvector_halves, pgvector_states",
    # Half the precision suffices by far: vectors are stored as bytes. Without a number of dimensions, as models differ.
    "CREATE TABLE pgvector_halves (repo_id bigint, number bigint, title halfvec NOT NULL, body halfvec NOT NULL,"
    " length real NOT NULL, PRIMARY KEY (repo_id, number),"
    " FOREIGN KEY (repo_id, number) REFERENCES indexed_vectors (repo_id, number) ON DELETE CASCADE)",
    "CREATE TABLE pgvector_states (repo_id bigint PRIMARY KEY REFERENCES index_states (repo_id) ON DELETE CASCADE,"
    " sequence bigint NOT NULL, centre bigint NOT NULL)",
)


def is_prepared(connection: sa.Connection) -> bool:
    """Whether the tables are there, whole and for this role; False on every other database than PostgreSQL."""
    return connection.dialect.name == "postgresql" and connection.exec_driver_sql(_THERE).scalar() == 3


def prepare(engine: sa.Engine, lock: int) -> None:
    """Make the tables where the server has the extension, or offers it and lets this role create it.

    `lock` is the advisory lock of whoever changes the schema. What the server refuses, for whatever reason, is no
    error: a line of the log says so, and each worker compares in its memory.
    """
    if engine.dialect.name != "postgresql":
        return
    with engine.connect() as connection:
        if is_prepared(connection) or not connection.exec_driver_sql(_OFFERED).scalar():
            return
    try:
        with write(engine) as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(lock)))
            if not is_prepared(connection):
                for statement in _MAKE:
                    connection.exec_driver_sql(statement)
    except sa.exc.DBAPIError as refused:
        # What the server says of these statements tells a host more; a driver that did not reach it names addresses.
        answered = getattr(refused.orig, "sqlstate", None) is not None
        _log.warning("pgvector is not used: %s", refused.orig if answered else why(refused))
