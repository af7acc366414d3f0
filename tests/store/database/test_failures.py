"""Why a database failed is told by real ones of both kinds, and never with what a driver writes into its text."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.deliveries.database import QueueUnavailable, named_failures
from bot.storage.engine import make_engine, write
from bot.storage.failures import why


def told(url: str, *statements: str) -> str:
    """What is told of the first statement that fails, in one transaction."""
    engine = make_engine(url, patience=0.2)
    try:
        with pytest.raises((sa.exc.SQLAlchemyError, OSError)) as failure, write(engine) as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
        return why(failure.value)
    finally:
        engine.dispose()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "hush.db"
    engine = make_engine(f"sqlite:///{file}")
    with write(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE t (a TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES (zeroblob(100000))")
    engine.dispose()
    return file


def test_what_a_file_has_is_told(file: Path) -> None:
    url = f"sqlite:///{file}"
    assert told(url, "PRAGMA max_page_count=1", "INSERT INTO t VALUES (zeroblob(1000000))") == "its disk is full"
    assert told(url, "PRAGMA query_only=ON", "INSERT INTO t VALUES (1)") == "it is read-only"
    assert told(url, "SELECT 'hush' FROM nowhere") == "OperationalError, SQLITE_ERROR"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert told(url, "SELECT 1") == "another process keeps it locked"
    other.close()
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    assert told(url, "SELECT * FROM t") == "the file is damaged; restore a backup"
    file.write_bytes(b"hush " * 5000)
    assert told(url, "SELECT * FROM t") == "the file is not an SQLite database"


def test_what_a_file_system_says_is_told_without_the_place(tmp_path: Path) -> None:
    (tmp_path / "hush").touch()
    assert told(f"sqlite:///{tmp_path / 'hush' / 'a.db'}", "SELECT 1") == "File exists"
    with pytest.raises(QueueUnavailable) as refused, named_failures():
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/hush")
    assert str(refused.value) == "the queue's database failed: Read-only file system; see `doppel doctor`"


def test_a_server_that_is_away_is_told() -> None:
    assert told("postgresql+psycopg://ann:hush@127.0.0.1:9/hush", "SELECT 1") == "nothing listens there"


@pytest.mark.postgres
def test_what_a_server_says_is_told(new_database: Callable[[str], str]) -> None:
    url = new_database("postgres")
    read_only = ("SET TRANSACTION READ ONLY", "CREATE TABLE hush (a integer)")
    assert told(url, *read_only) == "it is read-only"
    assert told(url, "SELECT 'hush' FROM nowhere") == "UndefinedTable, 42P01"
    ended = "SELECT pg_terminate_backend(pg_backend_pid())"
    assert told(url, ended) == "the server has been stopped"
    assert told(sa.make_url(url).set(database="hush").render_as_string(False), "SELECT 1") == (
        "the server has no such database or user"
    )


def test_of_what_is_not_known_its_kind_is_told() -> None:
    assert why(sa.exc.TimeoutError("hush does not exist")) == "all its connections are busy"
    assert why(sqlite3.ProgrammingError("hush")) == "ProgrammingError"
