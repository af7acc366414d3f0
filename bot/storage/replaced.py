"""Notices that somebody has replaced the database, by restoring a backup beside a running bot, against the manual.

A replaced SQLite file loses all further writes, so connections stop using it. They use the new one only when that has
stopped changing: it may be half of a copy. A worker has indexes of the old database in memory, and the new one may lack
tables, so the worker ends and the next one starts afresh.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

log = logging.getLogger(__name__)

SETTLED = 5.0
"""Seconds for which a new file must not have changed before it is used."""


def sqlite_file(url: sa.URL | str) -> Path | None:
    """The file of a SQLite database, whether it exists or not; None for other databases and for one in memory."""
    url = sa.make_url(url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def look_at(url: sa.URL | str) -> tuple[int, int, int] | None:
    """The inode, size and time of a SQLite database's file; None without one. An open file keeps its inode."""
    file = sqlite_file(url)
    return None if file is None else _looked_at(str(file))


def _looked_at(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 - it is done for each transaction, and a Path takes three times as long
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


# No file has this inode.
_LOST = -1


class DatabaseFile:
    """The SQLite file that one engine uses. Thread safe."""

    def __init__(self, url: sa.URL) -> None:
        file = sqlite_file(url)
        # As text, since it is looked at for each connection that is taken from the pool.
        self._file = None if file is None else str(file)
        self._lock = threading.Lock()
        self._ours: int | None = None
        self._seen: tuple[int, int, int] | None = None
        self._since = 0.0

    def opened(self) -> int | None:
        """Note a new connection; returns the inode of its file."""
        found = self._look()
        if self._ours is None and found is not None:
            self._ours = found[0]
        return found and found[0]

    def present(self) -> int | None:
        """The inode of the file to use, None before there is one. Raises OperationalError while none may be used."""
        if self._ours is None:
            return None
        found = self._look()
        if found is not None and found[0] == self._ours:
            return self._ours
        with self._lock:
            now = time.monotonic()
            if self._ours != _LOST:
                log.error("%s was replaced or taken away while it is in use", self._file)
                # The next file can get its inode as soon as nobody has it open.
                self._ours, self._seen, self._since = _LOST, found, now
            if found != self._seen:
                self._seen, self._since = found, now
            if found is None or now - self._since < SETTLED:
                # SQLite's own error, when it notices.
                cause = sqlite3.OperationalError("the database's file was replaced or taken away")
                cause.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
                cause.sqlite_errorname = "SQLITE_READONLY_DBMOVED"
                raise sa.exc.OperationalError(None, None, cause)
            self._ours = found[0]
            return self._ours

    def _look(self) -> tuple[int, int, int] | None:
        return None if self._file is None else _looked_at(self._file)


# Each primary key has a number of its own. A restored dump makes new keys, after all rows; and a database that takes
# over another's name has another number itself.
_TABLES = sa.text(
    "SELECT pg_database.oid, relname, pg_constraint.oid FROM pg_database, "
    "pg_class LEFT JOIN pg_constraint ON conrelid = pg_class.oid AND contype = 'p' WHERE datname = current_database() "
    "AND relkind = 'r' AND relnamespace = to_regnamespace(current_schema())"
)
# Every release has these tables, one of the store and one of the queue.
_BOTH = frozenset({"store_version", "jobs"})


class SqliteDatabases:
    """The files of some SQLite databases, as they are now, without those that do not exist yet."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._begun = {url: found[0] for url in urls if (found := look_at(url)) is not None}
        self._before = {url: look_at(url) for url in self._begun}
        self._lost = False

    def replaced(self) -> bool:
        """Whether other files have taken their place, and have not changed since the last look: one may be half of a
        copy.
        """
        found = {url: look_at(url) for url in self._begun}
        still, self._before = found == self._before, found
        self._lost |= any(one is None or one[0] != self._begun[url] for url, one in found.items())
        return self._lost and still and None not in found.values()


class PostgresDatabase:
    """The tables of store and queue in a PostgreSQL database, as they are now."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._begun = self._before = self._look()

    def replaced(self) -> bool:
        """Whether other tables have taken their place, are complete, and have not changed since the last look.

        They may be of an older release. An upgrade only adds tables. Raises what the database raises.
        """
        found = self._look()
        still, self._before = found == self._before, found
        (begun, _, keyless), (keys, names, without) = self._begun, found
        return still and names >= _BOTH and without <= keyless and keys.isdisjoint(begun)

    def _look(self) -> tuple[frozenset[tuple[int, int]], frozenset[str], int]:
        """The tables' primary keys, each with its database; the names of those tables; how many tables have no key."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TABLES).all()
        keyed = [row for row in rows if row[2] is not None]
        keys = frozenset((database, key) for database, _, key in keyed)
        return keys, frozenset(name for _, name, _ in keyed), len(rows) - len(keyed)


def open_databases(urls: Sequence[str], engine: sa.Engine) -> SqliteDatabases | PostgresDatabase:
    """The databases at these addresses, as they are now; `engine` is of one, and on PostgreSQL they are the same."""
    return SqliteDatabases(urls) if engine.dialect.name == "sqlite" else PostgresDatabase(engine)
