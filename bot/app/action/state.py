"""The state between two runs: the store as one SQLite file, vacuumed and compressed, in the runner's cache.

A cache can be gone, be of another branch, or hold what a killed runner has left, so nothing rests on it: a broken state
is begun anew, and people's decisions are read again from their threads (`handlers/recovery.py`).
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
"""Bytes of a state that is saved after every run. Caches of a repository have 10 GB together, so that a larger one is
saved when there is something in it that GitHub does not know."""

# From 20,000 issues with the texts of golang/go 88 MB become 38; the next level saves 2% and takes twice as long.
_LEVEL = 6


class Restored(Enum):
    """What was found in the cache."""

    WHOLE = "whole"
    NOTHING = "nothing"
    DAMAGED = "damaged"


def unpack(packed: Path, database: Path) -> Restored:
    """Restore the database from the cache, or leave none if the cache holds nothing that can be read."""
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


def index(engine: sa.Engine) -> None:
    """Make the indexes that a packed state lacks."""
    for table in metadata.sorted_tables:
        for one in table.indexes:
            one.create(engine, checkfirst=True)


def pack(database: Path, packed: Path) -> int:
    """Write the database into the cache's folder, whole or not at all; return its size in bytes."""
    copy, unfinished = database.with_suffix(".copy"), packed.with_suffix(".new")
    make_folder(packed.parent)
    for path in (copy, unfinished):
        path.unlink(missing_ok=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    with closing(sqlite3.connect(copy)) as connection:
        # They are a quarter of the file, and made again in less time than they take to be read.
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        for (name,) in listed.fetchall():
            connection.execute(f"DROP INDEX {name}")
        connection.execute("VACUUM")
    with copy.open("rb") as file, gzip.open(unfinished, "wb", _LEVEL) as out:
        shutil.copyfileobj(file, out, 1 << 20)
    unfinished.replace(packed)
    with suppress(OSError):
        copy.unlink()
    return packed.stat().st_size


_FEEDBACK = (
    "SELECT * FROM verdicts",
    "SELECT * FROM rejected_elsewhere",
    "SELECT * FROM muted",
    "SELECT * FROM heeded",
    "SELECT * FROM signals",
    "SELECT repo_id, number, command_id, state FROM comments WHERE state IN ('posted', 'deleted')",
    "SELECT id FROM decisions WHERE outcome IN ('posted', 'edited', 'shadow')",
)


def feedback_hash(store: Store) -> int:
    """A hash of everything that people said and GitHub's issues do not tell."""
    with store.engine.connect() as connection:
        return hash(tuple(tuple(map(tuple, connection.exec_driver_sql(query).all())) for query in _FEEDBACK))
