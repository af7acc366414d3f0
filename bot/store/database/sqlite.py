"""SQLite's engine: a private file in WAL mode, whose write lock is waited for fairly."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool, StaticPool

from bot.machine.private_files import close_to_others, for_a_database, make_file
from bot.store.database.failures import is_locked
from bot.store.database.files import Named

# Seconds between two tries to take SQLite's write lock: in the time that a commit usually takes, and later.
_SHORT_WAIT, _LONG_WAIT, _SOON = 0.001, 0.01, 0.1

# Times that the log is tried to be emptied: of a busy process's moments some are free.
_TRIES = 500

# The option of an engine that holds the turn at the write lock.
_TURN = "doppel_turn_to_write"
# And the one that says for how many seconds it is waited for.
_PATIENCE = "doppel_patience"

# What a connection knows of its file.
_FILE = "doppel_file"

# Prepared statements that a connection keeps. They are memory of the driver's and SQLite's own, up to 20 kB each, and a
# query has another text for each length of a list. The processor time for a job is the same as with the driver's 128.
_PREPARED = 16

# Bytes without which a delivery, or what is kept of one, may not fit onto the disk.
_ROOM = 1 << 20

# How a statement that writes begins.
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLAC"})


def sqlite_engine(url: str, patience: float, synchronous: str, pool_size: int) -> sa.Engine:
    """An engine for a `sqlite:///PATH` URL; the arguments are those of `make_engine`."""
    engine = sa.create_engine(
        url,
        hide_parameters=True,
        poolclass=QueuePool,
        # A quiet process uses few of its connections then, and each has memory of its own.
        pool_use_lifo=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=patience,
        connect_args={
            "timeout": patience,
            "check_same_thread": False,
            "isolation_level": "IMMEDIATE",
            "cached_statements": _PREPARED,
        },
        execution_options={_TURN: threading.Lock(), _PATIENCE: patience},
    )

    named = Named(engine.url)

    @sa.event.listens_for(engine, "do_connect")
    def keep_private(*_: Any) -> None:
        named.present()
        _make_private(engine.url)

    @sa.event.listens_for(engine, "checkout")
    def find_again(connection: sqlite3.Connection, record: Any, proxy: Any) -> None:
        if record.info.get(_FILE) != named.present():
            raise sa.exc.DisconnectionError("another file has its name by now")

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        record.info[_FILE] = named.opened()
        _prepare(connection, patience, synchronous)

    sa.event.listen(engine, "before_cursor_execute", _wait_fairly)
    return engine


def memory_engine() -> sa.Engine:
    """An engine for an empty database in memory, for one thread that has one connection at a time; gone once disposed.

    Nothing can fail between two of its writes, so that none is taken back.
    """
    engine = sa.create_engine(
        "sqlite://",
        hide_parameters=True,
        poolclass=StaticPool,
        connect_args={"isolation_level": "IMMEDIATE", "cached_statements": _PREPARED},
        execution_options={_TURN: threading.Lock(), _PATIENCE: 0.0},
    )

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        connection.execute("PRAGMA journal_mode=OFF")

    return engine


def _make_private(url: sa.URL) -> None:
    """Make the database's file, and have its owner alone read what stands beside it."""
    if url.database and url.database != ":memory:":
        path = Path(url.database)
        with for_a_database():
            make_file(path)
        # SQLite gives these the mode of the database when it makes them; those that are there had another one.
        for end in ("-wal", "-shm"):
            close_to_others(path.with_name(f"{path.name}{end}"))


def _prepare(connection: sqlite3.Connection, patience: float, synchronous: str) -> None:
    _use_wal(connection, patience)
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("PRAGMA foreign_keys=ON")
    # What is deleted is overwritten, as Debian's SQLite does by itself and others do not: erased text would stay in
    # the file. And the log shrinks when it begins anew, or what it held at its longest would stay at its end.
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA journal_size_limit=0")


def _wait_fairly(connection: sa.Connection, cursor: sqlite3.Cursor, statement: str, *_: Any) -> None:
    # The driver begins a transaction before the first statement that writes, and there SQLite would wait as it does:
    # transactions of those that know nothing of `write` would starve beside those that do.
    if statement.lstrip()[:6].upper() in _WRITES and not cursor.connection.in_transaction:
        with turn_to_write(connection.engine):
            take_write_lock(connection)


@contextmanager
def turn_to_write(engine: sa.Engine) -> Iterator[None]:
    """Hold an engine's turn at the write lock: of its threads one asks for that at a time.

    For twenty that ask would take a good part of a core. Who has waited for too long goes on without, and is refused by
    SQLite.
    """
    options = engine.get_execution_options()
    mine = options[_TURN].acquire(timeout=options[_PATIENCE])
    try:
        yield
    finally:
        if mine:
            options[_TURN].release()


def take_write_lock(connection: sa.Connection) -> None:
    """Begin a transaction of SQLite's that may write, waiting as long as the connection is set to.

    SQLite itself waits by sleeping ever longer, up to a tenth of a second ("sqlite3_busy_timeout"), and meanwhile
    whoever has just written takes the lock again: some wait for seconds while the disk is idle. Asking more often costs
    little and is fair.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    (patience,) = driver.execute("PRAGMA busy_timeout").fetchone()
    began = time.monotonic()
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while (waited := time.monotonic() - began) < patience / 1000:
            try:
                driver.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not is_locked(error):
                    break
            time.sleep(_SHORT_WAIT if waited < _SOON else _LONG_WAIT)
        # The last time through SQLAlchemy, whose errors callers know.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        driver.execute(f"PRAGMA busy_timeout={patience}")


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch the file to WAL. SQLite answers "locked" at once, without waiting, while another process switches it.

    What else it answers, such as that the disk is full, goes through at once.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_locked(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def is_full(engine: sa.Engine) -> bool:
    """Whether the disk with SQLite's file has no room left for us, of which its write lock tells nothing.

    To write something would tell, but wear the disk at each look. Of a server's disk nothing is known here.
    """
    if engine.dialect.name != "sqlite":
        return False
    return shutil.disk_usage(Path(engine.url.database or ".").absolute().parent).free < _ROOM


def empty_log(engine: sa.Engine, tries: int = _TRIES) -> bool:
    """Have nothing left in SQLite's log (`-wal`) of what was deleted; whether that could be done. Never raises.

    The log keeps a copy of each page that was written, also after the database has it, until others are written over
    it, which may be never. Emptying it needs a moment in which nobody reads from it. With PostgreSQL nothing is done.
    """
    if engine.dialect.name != "sqlite":
        return True
    try:
        with engine.connect() as connection:
            (patience,) = connection.exec_driver_sql("PRAGMA busy_timeout").one()
            # While SQLite waits for that moment itself, nobody can write.
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                for _ in range(tries):
                    busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
                    if not busy:
                        return True
                    time.sleep(_SHORT_WAIT)
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={patience}")
    except sa.exc.SQLAlchemyError:
        pass
    return False
