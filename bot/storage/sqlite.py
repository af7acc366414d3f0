"""SQLite's engine: a private file in WAL mode, a fair wait for its write lock, and group commit."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool, StaticPool

from bot.platform.private_files import for_a_database, make_file, make_private
from bot.storage.failures import is_locked
from bot.storage.replaced import DatabaseFile

# Seconds between two tries to take SQLite's write lock: a short wait for the first `_SOON` seconds, a long one later.
_SHORT_WAIT, _LONG_WAIT, _SOON = 0.001, 0.01, 0.1

# How many times to try to empty SQLite's log: even a busy process has moments without readers.
_TRIES = 500

# Names of an engine's options: the lock that `write_slot` takes, and the patience (seconds to wait for any lock).
_SLOT, _PATIENCE = "doppel_write_slot", "doppel_patience"

# The key of the file's inode in a connection's pool record.
_FILE = "doppel_file"

# If fewer bytes than this are free on the disk, a delivery may not fit.
_ROOM = 1 << 20

# Each connection maps this many bytes of the file into memory, and reads mapped pages without copying: a search
# among 17,000 issues takes 7% less time. The mapped pages count as resident memory, but the system shares them.
_MAPPED = 1 << 27


def sqlite_engine(url: str, patience: float, synchronous: str, pool_size: int) -> sa.Engine:
    """An engine for a `sqlite:///PATH` URL; the arguments are those of `make_engine`."""
    engine = sa.create_engine(
        url,
        hide_parameters=True,
        poolclass=QueuePool,
        # Last in, first out: a quiet process then opens few connections, each of which takes memory.
        pool_use_lifo=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=patience,
        connect_args={
            "timeout": patience,
            "check_same_thread": False,
            "isolation_level": "IMMEDIATE",
        },
        execution_options={_SLOT: threading.Lock(), _PATIENCE: patience},
    )

    file = DatabaseFile(engine.url)

    @sa.event.listens_for(engine, "do_connect")
    def keep_private(*_: Any) -> None:
        # Raises if the database's file was taken away or just replaced.
        file.present()
        if engine.url.database and engine.url.database != ":memory:":
            path = Path(engine.url.database)
            with for_a_database():
                make_file(path)
            # SQLite gives a new log the permissions of the database's file; an existing log may have others.
            for end in ("-wal", "-shm"):
                make_private(path.with_name(f"{path.name}{end}"))

    @sa.event.listens_for(engine, "checkout")
    def check_file(connection: sqlite3.Connection, record: Any, proxy: Any) -> None:
        inode_in_use = file.present()
        if record.info.get(_FILE) != inode_in_use:
            raise sa.exc.DisconnectionError("another file has the database's path now")

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        record.info[_FILE] = file.opened()
        _use_wal(connection, patience)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA mmap_size={_MAPPED}")
        # `secure_delete` overwrites deleted text in the file, which not every build of SQLite does by default.
        # `journal_size_limit` cuts off the old end of a log that SQLite begins anew: the old end may hold deleted text.
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA journal_size_limit=0")

    return engine


def memory_engine() -> sa.Engine:
    """An engine for an empty database in memory, for one thread with one connection at a time. It cannot roll back."""
    engine = sa.create_engine(
        "sqlite://",
        hide_parameters=True,
        poolclass=StaticPool,
        connect_args={"isolation_level": "IMMEDIATE"},
        execution_options={_SLOT: threading.Lock(), _PATIENCE: 0.0},
    )

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        connection.execute("PRAGMA journal_mode=OFF")

    return engine


@contextmanager
def write_slot(engine: sa.Engine) -> Iterator[None]:
    """Let only one thread of an engine poll for the write lock: twenty polling threads would keep a core busy.

    A thread that gets no slot within the engine's patience polls for the lock without a slot.
    """
    options = engine.get_execution_options()
    acquired = options[_SLOT].acquire(timeout=options[_PATIENCE])
    try:
        yield
    finally:
        if acquired:
            options[_SLOT].release()


def take_write_lock(connection: sa.Connection) -> None:
    """Begin a transaction that may write, and wait for the lock as long as the engine's patience.

    SQLite itself would sleep up to 0.1 s between tries: a busy writer could win each time. Frequent tries prevent that.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    patience, began = connection.get_execution_options()[_PATIENCE], time.monotonic()
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while (waited := time.monotonic() - began) < patience:
            try:
                driver.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not is_locked(error):
                    break
            time.sleep(_SHORT_WAIT if waited < _SOON else _LONG_WAIT)
        # The last try goes through SQLAlchemy, whose errors callers know.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        driver.execute(f"PRAGMA busy_timeout={1000 * patience:.0f}")


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch the file to WAL. Retries, because SQLite does not wait for another process that is switching it too."""
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
    """Whether the disk with SQLite's file is full; SQLite grants its write lock even then. False for PostgreSQL."""
    if engine.dialect.name != "sqlite":
        return False
    return shutil.disk_usage(Path(engine.url.database or ".").absolute().parent).free < _ROOM


def empty_log(engine: sa.Engine, tries: int = _TRIES) -> bool:
    """Empty SQLite's log (`-wal`), which keeps deleted text until overwritten; returns whether that succeeded.

    Emptying needs a moment in which nobody reads from the log. Never raises; does nothing on PostgreSQL.
    """
    if engine.dialect.name != "sqlite":
        return True
    try:
        with engine.connect() as connection:
            (patience,) = connection.exec_driver_sql("PRAGMA busy_timeout").one()
            # With a longer timeout, SQLite would itself wait for the readers, and nobody could write meanwhile.
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


T = TypeVar("T")

# Seconds in which others may join a commit, like PostgreSQL's `commit_delay`.
_DELAY = 0.002


class SharedCommit(Generic[T]):
    """Group commit: one thread commits for all. Items that arrive during one commit share the next.

    Gawlick and Kinkade, "Varieties of Concurrency Control in IMS/VS Fast Path", 1985.
    """

    def __init__(self, commit: Callable[[Sequence[T]], Sequence[bool]], patience: float | None) -> None:
        """`commit` commits items, returns their answers, and must begin within `patience` seconds (None: no limit)."""
        self._commit = commit
        self._patience = patience
        self._state_lock = threading.Lock()
        self._waiting: list[tuple[T, Future[bool]]] = []
        self._writing = False

    def write(self, item: T) -> bool:
        """Commit an item and return its answer.

        Raises TimeoutError if no commit begins in time, RuntimeError if no thread can start, or the commit's own error.
        """
        answer = Future[bool]()
        with self._state_lock:
            if not self._writing:
                threading.Thread(target=self._commit_all, name="shared-commit", daemon=True).start()
                self._writing = True
            self._waiting.append((item, answer))
        try:
            return answer.result(self._patience)
        except TimeoutError:
            if answer.cancel():
                raise
        # The commit has begun; from now on the database's own patience applies.
        return answer.result()

    def _commit_all(self) -> None:
        while True:
            time.sleep(_DELAY)
            with self._state_lock:
                gathered, self._waiting = self._waiting, []
                self._writing = bool(gathered)
            if not gathered:
                return
            batch = [(item, answer) for item, answer in gathered if answer.set_running_or_notify_cancel()]
            try:
                for (_, answer), result in zip(batch, self._commit([item for item, _ in batch]), strict=True):
                    answer.set_result(result)
            # Whatever ends this thread, every waiting caller gets an answer.
            except BaseException as problem:
                for _, answer in batch:
                    answer.set_exception(problem)
