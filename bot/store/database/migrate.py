"""Bring the store's schema up to date, safely when several processes start at once.

Processes of this release and of the one before run side by side while a host upgrades, on the newer schema. So a step
only ever adds: tables, indexes, columns that may be NULL or have a default of the server's. What is no longer used goes
in a later release than the one that stopped using it (docs/operations.md, tests/store/database/test_upgrade.py).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from bot.store.database import pgvector
from bot.store.database.engine import write
from bot.store.database.failures import is_locked
from bot.store.database.waiting import waiting
from bot.store.tables.schema import metadata

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent.parent / "migrations"
_version = sa.table("store_version", sa.column("version_num"))

# Any constant will do, as long as nothing else in the database locks the same number.
_LOCK = 7_205_759_403

# PostgreSQL looks for those who wait for one another after a second, and ends one of them.
_WAIT, _PAUSE = "500ms", 0.2
# Seconds after which it is waited for as long as the engine says.
_TRIED_FOR = 20.0
_NOT_AVAILABLE = "55P03"
# What nearly all look at before anything else: once nobody has it, few have any of the others.
_FIRST = "index_states"


def migrate(engine: sa.Engine, *, wait: bool = False) -> None:
    """Apply what is missing in one transaction: all or nothing, and one process at a time.

    SQLite's write lock and an advisory lock on PostgreSQL make the others wait; they then find nothing to do. So does
    a process of an earlier release, which is started again while its host upgrades. With `wait` they wait for as long
    as that takes; else for as long as the engine is patient, and what the database raises then goes through.
    """
    tell_and_wait = waiting("the store")
    while _reached(engine) < newest():
        try:
            done = _upgrade(engine, wait)
        except sa.exc.OperationalError as refused:
            if not (wait and is_locked(refused)):
                raise
            done = False
        if done:
            break
        tell_and_wait()
    pgvector.prepare(engine, _LOCK)


def _upgrade(engine: sa.Engine, wait: bool) -> bool:
    """Apply what is missing; False, and nothing is done, where it is to be waited for another process."""
    # Most processes find nothing to do, and begin a tenth of a second sooner without it.
    from alembic import command

    config = _config()
    with write(engine) as connection:
        if connection.dialect.name == "postgresql":
            take = sa.func.pg_try_advisory_xact_lock if wait else sa.func.pg_advisory_xact_lock
            if connection.execute(sa.select(take(_LOCK))).scalar() is False:
                return False
        # Alembic objects to a revision that it does not know.
        if _revision(connection) < newest():
            if connection.dialect.name == "postgresql":
                _keep_others_out(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    return True


def _keep_others_out(connection: sa.Connection) -> None:
    """Let nobody read or write the store until the transaction ends: all of it at once, or nothing is held.

    Steps that lock one table after the other would wait for who reads them in another order, who waits for them.
    """
    there = metadata.tables.keys() & set(sa.inspect(connection).get_table_names())
    if not there:
        return
    names = ", ".join(sorted(there, key=lambda name: (name != _FIRST, name)))
    end = time.monotonic() + _TRIED_FOR
    while True:
        last = time.monotonic() >= end
        try:
            with connection.begin_nested():
                if not last:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WAIT}'")
                connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
                connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")
            return
        except sa.exc.OperationalError as refused:
            if last or getattr(refused.orig, "sqlstate", None) != _NOT_AVAILABLE:
                raise
        time.sleep(_PAUSE)


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is that of this version of the program."""
    return _reached(engine) == newest()


def is_later(engine: sa.Engine) -> bool:
    """Whether the schema is that of a later version of the program, which this one can work on but not take further."""
    return _reached(engine) > newest()


def has_schema(engine: sa.Engine) -> bool:
    """Whether a store is there at all, of whatever version."""
    return bool(_reached(engine))


def newest() -> str:
    """The latest revision there is: a migration's file name begins with its own."""
    return max(file.name.partition("_")[0] for file in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _reached(engine: sa.Engine) -> str:
    with engine.connect() as connection:
        return _revision(connection)


def _revision(connection: sa.Connection) -> str:
    """The revision of the database, empty where it has none; revisions are ordered as texts."""
    if not sa.inspect(connection).has_table(_version.name):
        return ""
    found: str | None = connection.execute(sa.select(_version.c.version_num)).scalar()
    return found or ""


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    return config
