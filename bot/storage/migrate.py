"""Brings the store's schema up to date, safely when several processes start at once.

While a host upgrades, processes of two releases run side by side on the newer schema. So a step may
only add or drop: add tables, indexes, and columns that can be NULL or have a server default, and drop
what the previous release does not use (docs/releases.md). The process that upgrades holds a lock,
which SQLite and PostgreSQL free when the process dies.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from bot.storage.engine import lock, write
from bot.storage.failures import is_locked
from bot.storage.schema import metadata

log = logging.getLogger(__name__)

PAUSE = 0.1  # seconds between two tries to take the lock; each try itself can take as long as the engine's patience
FIRST_LOGGED = 5.0  # seconds of waiting before the first log line
LOGGED_EVERY = 15.0  # seconds between further log lines


def waiting(what: str) -> Callable[[], None]:
    """Returns a function to call after each failed try to lock `what`. The function sleeps, and may log."""
    began = time.monotonic()
    next_line = FIRST_LOGGED

    def pause() -> None:
        nonlocal next_line
        waited = time.monotonic() - began
        if waited >= next_line:
            message = "another process has locked %s to upgrade the schema; waited for %.0f s"
            log.warning(message, what, waited)
            next_line = waited + LOGGED_EVERY
        time.sleep(PAUSE)

    return pause


_MIGRATIONS = Path(__file__).parent / "migrations"
_version = sa.table("store_version", sa.column("version_num"))

# The number of PostgreSQL's advisory lock. Nothing else in the database may use this number.
_LOCK = 7_205_759_403


def migrate(engine: sa.Engine, *, wait: bool = False) -> None:
    """Make all tables, or apply the missing steps, in one transaction, one process at a time.

    A process that finds the lock taken waits as long as the engine's patience, and then raises the database's error.
    With `wait` it waits without end.
    """
    pause = waiting("the store")
    while _reached(engine) < newest():
        try:
            _upgrade(engine)
        except sa.exc.OperationalError as problem:
            if not (wait and is_locked(problem)):
                raise
            pause()


def _upgrade(engine: sa.Engine) -> None:
    # Imported here, because alembic takes a tenth of a second to load and most processes do not need it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with write(engine) as connection:
        lock(connection, _LOCK)
        # Leave a later release's schema alone: Alembic refuses revisions that it does not know.
        reached = _revision(connection)
        if reached < newest():
            config.attributes["connection"] = connection
            if reached:
                command.upgrade(config, "head")
            else:
                metadata.create_all(connection)
                command.stamp(config, "head")


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is that of this version of the program."""
    return _reached(engine) == newest()


def is_later(engine: sa.Engine) -> bool:
    """Whether a later version of the program has upgraded the schema; this version can still use it."""
    return _reached(engine) > newest()


def has_schema(engine: sa.Engine) -> bool:
    return bool(_reached(engine))


def newest() -> str:
    """The latest revision. A revision is the number at the beginning of a migration's file name."""
    return max(file.name.partition("_")[0] for file in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _reached(engine: sa.Engine) -> str:
    with engine.connect() as connection:
        return _revision(connection)


def _revision(connection: sa.Connection) -> str:
    """The revision of the database, empty if it has none; revisions are ordered as texts."""
    if not sa.inspect(connection).has_table(_version.name):
        return ""
    found: str | None = connection.execute(sa.select(_version.c.version_num)).scalar()
    return found or ""
