"""Bring the store's schema up to date, safely when several processes start at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from bot.store.engine import write

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"
_version = sa.table("store_version", sa.column("version_num"))

# Any constant will do, as long as nothing else in the database locks the same number.
_LOCK = 7_205_759_403


def migrate(engine: sa.Engine) -> None:
    """Apply what is missing in one transaction: all or nothing, and one process at a time.

    SQLite's write lock and an advisory lock on PostgreSQL make the others wait; they then find nothing to do.
    """
    if is_current(engine):
        return
    # Most processes find nothing to do, and begin a tenth of a second sooner without it.
    from alembic import command

    config = _config()
    with write(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is that of this version of the program."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table(_version.name):
            return False
        return connection.execute(sa.select(_version.c.version_num)).scalars().all() == [newest()]


def newest() -> str:
    """The latest revision there is: a migration's file name begins with its own."""
    return max(file.name.partition("_")[0] for file in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    return config
