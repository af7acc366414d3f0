"""Notices that somebody has replaced a SQLite file by a backup while the bot runs, which the manual forbids.

Writes to the old file are lost, so connections stop using the old file. They use the new file only when it
has stopped changing, because it may be an unfinished copy. A worker has indexes of the old database in memory, and the
new database may lack tables, so the worker ends and the next worker starts afresh.
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
"""A new file must not have changed for this many seconds before it is used."""


def sqlite_file(url: sa.URL | str) -> Path | None:
    """The path of a SQLite database's file, which need not exist; None for PostgreSQL and for a database in memory."""
    url = sa.make_url(url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _stat(file: str) -> tuple[int, int, int] | None:
    """A file's inode, size and time of change; None if missing. While a file is open, no other file has its inode."""
    try:
        found = os.stat(file)  # noqa: PTH116 - it is done for each transaction, and a Path takes three times as long
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


# `DatabaseFile._ours` while the file is lost (replaced or taken away). No file has this inode.
_LOST = -1


class DatabaseFile:
    """The SQLite file that one engine uses. Thread safe."""

    def __init__(self, url: sa.URL) -> None:
        file = sqlite_file(url)
        # As text, since `os.stat` is called for each connection that is taken from the pool.
        self._file = None if file is None else str(file)
        self._lock = threading.Lock()
        # The inode of the file in use, or _LOST; None before the first connection.
        self._ours: int | None = None
        # After a loss: the latest `_stat` of the path, and since when it has been the same (monotonic clock).
        self._seen: tuple[int, int, int] | None = None
        self._since = 0.0

    def opened(self) -> int | None:
        """Note a new connection, and return the inode of its file."""
        found = self._look()
        if self._ours is None and found is not None:
            self._ours = found[0]
        return found and found[0]

    def present(self) -> int | None:
        """The inode to use, or None (in memory, or not yet connected). Raises OperationalError if no file is ready."""
        if self._ours is None:
            return None
        found = self._look()
        if found is not None and found[0] == self._ours:
            return self._ours
        with self._lock:
            now = time.monotonic()
            if self._ours != _LOST:
                log.error("%s was replaced or taken away while it is in use", self._file)
                # Forget the inode: as soon as nobody has the old file open, a new file can get the same inode.
                self._ours, self._seen, self._since = _LOST, found, now
            if found != self._seen:
                self._seen, self._since = found, now
            if found is None or now - self._since < SETTLED:
                cause = sqlite3.OperationalError("the database's file was replaced or taken away")
                cause.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED  # as from SQLite itself
                cause.sqlite_errorname = "SQLITE_READONLY_DBMOVED"
                raise sa.exc.OperationalError(None, None, cause)
            self._ours = found[0]
            return self._ours

    def _look(self) -> tuple[int, int, int] | None:
        return None if self._file is None else _stat(self._file)


class SqliteDatabases:
    """The SQLite files that some databases had when this object was made; PostgreSQL has none."""

    def __init__(self, urls: Sequence[str]) -> None:
        files = [str(file) for url in urls if (file := sqlite_file(url)) is not None]
        self._inodes = {file: found[0] for file in files if (found := _stat(file)) is not None}
        self._last_states = {file: _stat(file) for file in self._inodes}
        self._lost = False

    def replaced(self) -> bool:
        """Whether a file was replaced. False if a file is missing, or has changed since the last call or `__init__`."""
        states = {file: _stat(file) for file in self._inodes}
        unchanged = states == self._last_states
        self._last_states = states
        self._lost |= any(state is None or state[0] != self._inodes[file] for file, state in states.items())
        return self._lost and unchanged and None not in states.values()
