"""The state between two runs: the store's SQLite file, in a folder that the runner's cache keeps.

The saved folder can be missing, belong to another branch, or come from a killed runner. So the bot can do without its
old state: it makes a new one, and `handlers/recovery.py` reads people's decisions again from the threads on GitHub.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import Enum
from pathlib import Path

from bot.platform.private_files import make_folder
from bot.storage import Store
from bot.storage.schema import index_vocabulary

SMALL = 4_000_000
"""A state of fewer bytes is saved after every run. For any other state, `Workflow.close` decides whether the run's
changes are worth saving, because all caches of a repository share 10 GB."""


class Restored(Enum):
    """The condition of the state that the cache held."""

    WHOLE = "whole"
    NOTHING = "nothing"
    DAMAGED = "damaged"


def check(database: Path) -> Restored:
    """Check the database that the cache has restored, and delete it if it is damaged."""
    make_folder(database.parent)
    if not database.exists():
        return Restored.NOTHING
    try:
        with closing(sqlite3.connect(database)) as connection:
            # An empty file passes `quick_check`, but lacks this table.
            connection.execute("SELECT count(*) FROM store_version").fetchone()
            # "ok", or the first fault.
            ((result,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.DatabaseError as failure:
        result = str(failure)
    if result == "ok":
        return Restored.WHOLE
    database.unlink()
    return Restored.DAMAGED


def shrink(database: Path) -> int:
    """Shrink the database for the cache, and return its size in bytes. The store must be closed."""
    with closing(sqlite3.connect(database)) as connection:
        # The SQL index on terms is a sixth of the file. Do not create the index again: with 17,000 issues, that would
        # take 0.4 s in each run. Without the SQL index, each changed issue takes 0.06 s longer.
        for index in index_vocabulary.indexes:
            connection.execute(f"DROP INDEX IF EXISTS {index.name}")
        connection.execute("VACUUM")
    return database.stat().st_size


_RECORDS = (
    "SELECT * FROM verdicts",
    "SELECT * FROM muted",
    "SELECT * FROM heeded",
    "SELECT * FROM signals",
    "SELECT * FROM labelled",
    "SELECT repo_id, number, command_id, state FROM comments WHERE state IN ('posted', 'deleted')",
    "SELECT id FROM decisions WHERE outcome IN ('posted', 'edited', 'shadow')",
    # The judge's budgets depend on these calls. Each call also stored answers, and asking the judge again costs money.
    "SELECT count(*), max(id) FROM judge_calls",
)


def records_hash(store: Store) -> int:
    """A hash of feedback, comments, decisions and the judge's calls. Comparable only within one process."""
    with store.engine.connect() as connection:
        results = [connection.exec_driver_sql(query).all() for query in _RECORDS]
    return hash(tuple(tuple(map(tuple, rows)) for rows in results))
