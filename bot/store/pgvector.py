"""Tables for PostgreSQL's extension pgvector, where the server has it.

They are no part of the schema: what is in them follows from the index's vectors (`bot/index/pgvector.py`), they are
made whenever a process starts on a server that has the extension by then, and without them everything works. So they
are not moved from one database to another, and what they hold goes with the rows that it was made of.
"""

from __future__ import annotations

import logging

import sqlalchemy as sa

from bot.store.engine import write

_log = logging.getLogger(__name__)

# Half the precision suffices by far: vectors are stored as bytes. Without a number of dimensions, as models differ.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS pgvector_states (repo_id bigint PRIMARY KEY"
    " REFERENCES index_states (repo_id) ON DELETE CASCADE, sequence bigint NOT NULL, centre bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS pgvector_halves (repo_id bigint, number bigint, title halfvec NOT NULL,"
    " body halfvec NOT NULL, length real NOT NULL, PRIMARY KEY (repo_id, number),"
    " FOREIGN KEY (repo_id, number) REFERENCES indexed_vectors (repo_id, number) ON DELETE CASCADE)",
)
_OFFERED = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"


def is_prepared(connection: sa.Connection) -> bool:
    """Whether the tables are there; False on every other database than PostgreSQL."""
    if connection.dialect.name != "postgresql":
        return False
    return connection.exec_driver_sql("SELECT to_regclass('pgvector_halves')").scalar() is not None


def prepare(engine: sa.Engine, lock: int) -> None:
    """Make the tables where the server has the extension, or offers it and lets this role create it.

    `lock` is the advisory lock of whoever changes the schema. What the server refuses is no error: a line of the log
    says so, and each worker compares in its memory.
    """
    if engine.dialect.name != "postgresql":
        return
    with engine.connect() as connection:
        if is_prepared(connection) or not connection.exec_driver_sql(_OFFERED).scalar():
            return
    try:
        with write(engine) as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(lock)))
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
            for table in _TABLES:
                connection.exec_driver_sql(table)
    except sa.exc.ProgrammingError as refused:
        _log.info("pgvector is not used: %s", refused.orig)
