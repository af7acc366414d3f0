"""The state between two runs: the store as one SQLite file, vacuumed and compressed, in the runner's cache.

A cache can be missing, belong to another branch, or come from a killed runner, so the bot does not depend on it: a new
state replaces a broken one, and people's decisions are read again from their threads (`handlers/recovery.py`).
"""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import zlib
from contextlib import closing, suppress
from enum import Enum
from pathlib import Path

import sqlalchemy as sa

from bot.platform.private_files import make_file, make_folder
from bot.storage import Store
from bot.storage.schema import metadata

SMALL = 4_000_000
"""A state smaller than this many bytes is saved after every run. All caches of a repository share 10 GB, so a larger
state is saved only if it holds something that GitHub does not know."""

# Compresses 20,000 issues of golang/go from 88 MB to 38 MB; the next level saves 2% and takes twice as long.
_GZIP_LEVEL = 6


class Restored(Enum):
    """What the cache held."""

    WHOLE = "whole"
    NOTHING = "nothing"
    DAMAGED = "damaged"


def unpack(packed: Path, database: Path) -> Restored:
    """Restore the database from the cache; leave no database if the cache is empty or damaged."""
    make_folder(database.parent)
    if not packed.exists():
        return Restored.NOTHING
    try:
        make_file(database)
        with gzip.open(packed) as file, database.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("SELECT count(*) FROM store_version").fetchone()
    except (OSError, EOFError, zlib.error, sqlite3.DatabaseError):
        database.unlink(missing_ok=True)
        return Restored.DAMAGED
    return Restored.WHOLE


def create_indexes(engine: sa.Engine) -> None:
    """Create the indexes, which a packed state lacks."""
    for table in metadata.sorted_tables:
        for index in table.indexes:
            index.create(engine, checkfirst=True)


def pack(database: Path, packed: Path) -> int:
    """Write the database into the cache's folder, whole or not at all; return the packed size in bytes."""
    copy, unfinished = database.with_suffix(".copy"), packed.with_suffix(".new")
    make_folder(packed.parent)
    for path in (copy, unfinished):
        path.unlink(missing_ok=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with closing(sqlite3.connect(copy)) as connection:
        # Indexes are a quarter of the file, and creating them takes less time than reading them.
        indexes = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        for (name,) in indexes.fetchall():
            connection.execute(f"DROP INDEX {name}")
        connection.execute("VACUUM")
    with copy.open("rb") as file, gzip.open(unfinished, "wb", _GZIP_LEVEL) as out:
        shutil.copyfileobj(file, out, 1 << 20)
    unfinished.replace(packed)
    with suppress(OSError):
        copy.unlink()
    return packed.stat().st_size


_FEEDBACK = (
    "SELECT * FROM verdicts",
    "SELECT * FROM muted",
    "SELECT * FROM heeded",
    "SELECT * FROM signals",
    "SELECT repo_id, number, command_id, state FROM comments WHERE state IN ('posted', 'deleted')",
    "SELECT id FROM decisions WHERE outcome IN ('posted', 'edited', 'shadow')",
)


def feedback_hash(store: Store) -> int:
    """A hash of all feedback that cannot be read from GitHub's issues."""
    with store.engine.connect() as connection:
        return hash(tuple(tuple(map(tuple, connection.exec_driver_sql(query).all())) for query in _FEEDBACK))
