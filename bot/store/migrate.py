"""Bring the store's schema up to date, safely when several processes start at once."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.store.engine import write

# Any constant will do, as long as nothing else in the database locks the same number.
_LOCK = 7_205_759_403


def migrate(engine: sa.Engine) -> None:
    """Apply what is missing in one transaction: all or nothing, and one process at a time.

    SQLite's write lock and an advisory lock on PostgreSQL make the others wait; they then find nothing to do.
    """
    config = _config()
    if is_current(engine):
        return
    with write(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is that of this version of the program."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    with engine.connect() as connection:
        found = MigrationContext.configure(connection, opts={"version_table": "store_version"}).get_current_revision()
    return found == head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
