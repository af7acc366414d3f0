"""Database engines that behave alike on SQLite and PostgreSQL: bounded waits, real transactions, many processes.

SQLite runs in WAL mode, where readers and the one writer do not block each other. Python's driver opens a transaction
only before the first write, so `write` takes the write lock at its beginning: a read that decides about a write can
then never be outdated by the time of the write, and the wait for the lock happens where `busy_timeout` bounds it.
"""

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
from sqlalchemy.pool import QueuePool

from bot.machine.private_files import close_to_others, for_a_database, make_file
from bot.store.database.failures import is_locked
from bot.store.database.files import Named

# How long a statement waits for other processes before it gives up, unless the caller must answer sooner.
PATIENCE = 30.0

# Seconds between two tries to take SQLite's write lock: in the time that a commit usually takes, and later.
_SHORT_WAIT, _LONG_WAIT, _SOON = 0.001, 0.01, 0.1

# Times that the log is tried to be emptied: of a busy process's moments some are free.
_TRIES = 500

# The option of an engine that holds the turn at the write lock.
_TURN = "doppel_turn_to_write"

# What a connection knows of its file.
_FILE = "doppel_file"

# Prepared statements that a connection keeps. They are memory of the driver's and SQLite's own, up to 20 kB each, and
# DBOS's queries have another text for each length of a list: with the driver's 128 for each of thirty connections a
# worker grew by 2 kB a job for many thousands of jobs. The processor time for a job is the same with 16.
_PREPARED = 16

# Bytes without which a delivery, or what is kept of one, may not fit onto the disk.
_ROOM = 1 << 20

# What can stand behind the question mark of a database's address and opens it: libpq's `password`, `sslpassword` and
# `oauth_client_secret` ("Parameter Key Words" in PostgreSQL's manual).
_SECRETS = ("password", "secret")

# PostgreSQL's code for "read only SQL transaction".
_READ_ONLY = "25006"

# How a statement that writes begins.
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLAC"})


def shown(url: str) -> str:
    """A database's address for messages: without what opens it, wherever in the address that stands."""
    parts = sa.make_url(url)
    hidden = {name: "***" for name in parts.query if any(word in name.lower() for word in _SECRETS)}
    return parts.update_query_dict(hidden).render_as_string(hide_password=True)


def make_engine(
    url: str, *, patience: float = PATIENCE, synchronous: str = "NORMAL", pool_size: int = 8, connect_timeout: int = 5
) -> sa.Engine:
    """An engine for a `sqlite:///PATH` or `postgresql+psycopg://` URL; connects on first use.

    `patience` is how many seconds a statement waits for a lock and a caller for a connection. `synchronous` is
    SQLite's: NORMAL survives every crash of a process, FULL a power failure too, for an fsync with each commit.
    """
    if url.startswith("sqlite"):
        return _sqlite(url, patience, synchronous, pool_size)
    bound = int(patience * 1000)
    engine = sa.create_engine(
        url,
        # Whoever writes an error into a message must not write what the statement was given, which may be a comment.
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=patience,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": connect_timeout,
            # A server that has vanished from the network does not even refuse.
            "tcp_user_timeout": bound,
            # The second frees the locks of a process that was frozen in the middle of a transaction.
            "options": f"-c lock_timeout={bound} -c idle_in_transaction_session_timeout=60000",
        },
    )
    sa.event.listen(engine, "handle_error", _mark_as_lost)
    return engine


def _mark_as_lost(context: sa.engine.ExceptionContext) -> None:
    """Tell whoever asks that there was no connection, also where none could be made, or only one that cannot write.

    DBOS tries again what it could not write down for want of a connection, but knows only some of the driver's words
    for it; a job whose end it gives up noting would count as under way for as long as its worker lives. And a
    connection that was made while the server took no writes takes none for as long as it is open.
    """
    if context.connection is None or getattr(context.original_exception, "sqlstate", "") == _READ_ONLY:
        context.is_disconnect = True


@contextmanager
def write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that may write; on SQLite it holds the write lock from its first statement on."""
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            _take_write_lock(connection)
        yield connection


def database_time(engine: sa.Engine) -> sa.ColumnElement[float]:
    """The database's time in seconds since 1970, so that machines need not agree on theirs."""
    if engine.dialect.name == "sqlite":
        return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Float())
    return sa.literal_column("extract(epoch from clock_timestamp())::double precision", sa.Float())


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


def _take_write_lock(connection: sa.Connection) -> None:
    """Begin a transaction of SQLite's that may write, waiting as long as the connection is set to.

    SQLite itself waits by sleeping ever longer, up to a tenth of a second ("sqlite3_busy_timeout"), and meanwhile
    whoever has just written takes the lock again: some wait for seconds while the disk is idle. Asking more often costs
    little and is fair. Of an engine's threads one asks at a time, for twenty that ask would take a good part of a core.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    (patience,) = driver.execute("PRAGMA busy_timeout").fetchone()
    began = time.monotonic()
    turn = connection.get_execution_options()[_TURN]
    mine = turn.acquire(timeout=patience / 1000)
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
        if mine:
            turn.release()
        driver.execute(f"PRAGMA busy_timeout={patience}")


def _sqlite(url: str, patience: float, synchronous: str, pool_size: int) -> sa.Engine:
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
        execution_options={_TURN: threading.Lock()},
    )

    @sa.event.listens_for(engine, "do_connect")
    def keep_private(*_: Any) -> None:
        named.present()
        if engine.url.database and engine.url.database != ":memory:":
            path = Path(engine.url.database)
            with for_a_database():
                make_file(path)
            # SQLite gives these the mode of the database when it makes them; those that are there had another one.
            for end in ("-wal", "-shm"):
                close_to_others(path.with_name(f"{path.name}{end}"))

    named = Named(engine.url)

    @sa.event.listens_for(engine, "checkout")
    def find_again(connection: sqlite3.Connection, record: Any, proxy: Any) -> None:
        if record.info.get(_FILE) != named.present():
            raise sa.exc.DisconnectionError("another file has its name by now")

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        record.info[_FILE] = named.opened()
        _use_wal(connection, patience)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        # What is deleted is overwritten, as Debian's SQLite does by itself and others do not: erased text would stay in
        # the file. And the log shrinks when it begins anew, or what it held at its longest would stay at its end.
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA journal_size_limit=0")

    @sa.event.listens_for(engine, "before_cursor_execute")
    def wait_fairly(connection: sa.Connection, cursor: sqlite3.Cursor, statement: str, *_: Any) -> None:
        # The driver begins a transaction before the first statement that writes, and there SQLite would wait as it
        # does: DBOS's transactions, which know nothing of `write`, would starve beside those that do.
        if statement.lstrip()[:6].upper() in _WRITES and not cursor.connection.in_transaction:
            _take_write_lock(connection)

    return engine


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
