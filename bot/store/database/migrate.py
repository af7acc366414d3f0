"""Bring the store's schema up to date, safely when several processes start at once.

Processes of this release and of the one before run side by side while a host upgrades, on the newer schema. So a step
only ever adds: tables, indexes, columns that may be NULL or have a default of the server's. What is no longer used goes
in a later release than the one that stopped using it (docs/operations.md). That another process is at it shows in its
lock, which both databases take from one that has died.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from bot.store.database.engine import write
from bot.store.database.failures import is_locked
from bot.store.tables.schema import metadata

if TYPE_CHECKING:
    from alembic.config import Config

log = logging.getLogger(__name__)

#: Seconds between two tries to take PostgreSQL's lock, and after which the log says for the first time, and again, that
#: somebody waits. On SQLite each try takes as long as the engine is patient.
PAUSE, FIRST_TOLD, TOLD_EVERY = 0.1, 5.0, 15.0


def waiting(what: str) -> Callable[[], None]:
    """What to call after each try that came to nothing; `what` is being brought up to date."""
    began = time.monotonic()
    next_told = FIRST_TOLD

    def wait() -> None:
        nonlocal next_told
        waited = time.monotonic() - began
        if waited >= next_told:
            log.warning(
                "another process has locked %s, to bring its schema up to date: waited for it for %.0f s", what, waited
            )
            next_told = waited + TOLD_EVERY
        time.sleep(PAUSE)

    return wait


@contextmanager
def alone(engine: sa.Engine, lock: int, what: str, patience: float | None) -> Iterator[None]:
    """A stretch of time for one process at a time, on PostgreSQL; several connections may be used in it.

    Raises TimeoutError where others take longer than `patience` seconds; None waits for as long as they take.
    """
    if engine.dialect.name != "postgresql":
        yield
        return
    wait, began = waiting(what), time.monotonic()
    # Without a transaction, which the server would end for doing nothing.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(lock))).scalar():
            if patience is not None and time.monotonic() - began > patience:
                raise TimeoutError(f"another process has locked {what}, to bring its schema up to date")
            wait()
        try:
            yield
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(lock)))


_MIGRATIONS = Path(__file__).parent.parent / "migrations"
_version = sa.table("store_version", sa.column("version_num"))

# Any constant will do, as long as nothing else in the database locks the same number.
_LOCK = 7_205_759_403


def migrate(engine: sa.Engine, *, wait: bool = False) -> None:
    """Make all tables, or apply what is missing, in one transaction: all or nothing, and one process at a time.

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
        reached = _revision(connection)
        if reached < newest():
            config.attributes["connection"] = connection
            if not reached:
                metadata.create_all(connection)
                command.stamp(config, "head")
                return True
            command.upgrade(config, "head")
    return True


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
