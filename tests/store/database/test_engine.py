"""Whoever writes to SQLite waits for its turn in the same way, or some would starve beside the others."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.platform.settings import Settings
from bot.search.index import Index, TextAnalyser
from bot.storage import engine as engines
from bot.storage import open_store, sqlite
from bot.storage.engine import make_engine, write
from bot.storage.failures import may_pass
from bot.storage.sqlite import empty_log
from tests.conftest import KINDS
from tests.waiting import LONGEST


def test_each_transaction_takes_the_lock_once_and_only_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    take = sqlite.take_write_lock
    for module in (engines, sqlite):
        monkeypatch.setattr(module, "take_write_lock", lambda connection: (taken.append(1), take(connection)))
    engine = make_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a INTEGER)")
    assert taken == []
    with write(engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 0
        connection.execute(sa.text("INSERT INTO t VALUES (1)"))
        connection.execute(sa.text("UPDATE t SET a = 2"))
    assert taken == [1]
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT a FROM t").scalars().all() == [2]
    engine.dispose()


def test_c6a_what_is_deleted_is_overwritten_by_every_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's SQLite overwrites by itself, those of python.org, macOS and others do not."""
    connect = sqlite3.dbapi2.connect

    def another_build(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.execute("PRAGMA secure_delete=OFF")
        return connection

    monkeypatch.setattr(sqlite3.dbapi2, "connect", another_build)
    engine = make_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a TEXT)")
        connection.execute(sa.text("INSERT INTO t VALUES ('Zwielichtfehler')"))
    assert empty_log(engine)
    assert b"Zwielichtfehler" in (tmp_path / "a.db").read_bytes()
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM t"))
    assert empty_log(engine)
    assert [one.name for one in tmp_path.iterdir() if b"Zwielichtfehler" in one.read_bytes()] == []
    engine.dispose()


def test_the_log_is_left_alone_while_somebody_reads_from_it(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a INTEGER)")
        connection.execute(sa.text("INSERT INTO t VALUES (1)"))
    with engine.connect() as reader:
        reader.exec_driver_sql("BEGIN")
        assert reader.exec_driver_sql("SELECT a FROM t").scalars().all() == [1]
        with engine.begin() as connection:
            connection.execute(sa.text("INSERT INTO t VALUES (2)"))
        assert not empty_log(engine, tries=2)
        assert reader.exec_driver_sql("SELECT a FROM t").scalars().all() == [1]
    # The connection waits for locks as before.
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == 30_000
    assert empty_log(engine)
    engine.dispose()


def test_a_server_that_is_away_counts_as_a_lost_connection(tmp_path: Path) -> None:
    """Whatever the driver's words for it."""
    engine = make_engine(f"postgresql+psycopg://nobody@/nothing?host={tmp_path}")
    with pytest.raises(sa.exc.OperationalError) as refused, engine.connect():
        pass
    assert refused.value.connection_invalidated
    assert may_pass(refused.value)


@pytest.mark.postgres
def test_connections_that_were_made_while_a_server_took_no_writes_are_not_kept(
    new_database: Callable[[str], str],
) -> None:
    url = new_database("postgres")
    engine, server = make_engine(url), sa.create_engine(url, isolation_level="AUTOCOMMIT")
    name = sa.make_url(url).database
    with server.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a integer)")
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with pytest.raises(sa.exc.DBAPIError) as refused, write(engine) as one, engine.connect() as another:
            another.exec_driver_sql("SELECT 1")
            one.exec_driver_sql("INSERT INTO t VALUES (1)")
        assert refused.value.connection_invalidated
        connection.exec_driver_sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    server.dispose()
    for _ in range(2):
        with write(engine) as one, write(engine) as another:
            one.exec_driver_sql("INSERT INTO t VALUES (2)")
            another.exec_driver_sql("INSERT INTO t VALUES (3)")
    engine.dispose()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_statement_was_given_is_not_in_the_text_of_its_failure(
    kind: str, new_database: Callable[[str], str]
) -> None:
    """Libraries write that text into the log, and what a job was given may be the words of a comment."""
    engine = make_engine(new_database(kind))
    with pytest.raises(sa.exc.SQLAlchemyError) as failure, engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO nowhere VALUES (:words)"), {"words": "hush hush"})
    assert "nowhere" in str(failure.value)
    assert "hush" not in str(failure.value)
    engine.dispose()


THREADS = 12


def test_threads_that_read_an_index_can_ask_the_store_meanwhile(store_url: str, tmp_path: Path) -> None:
    """As a find does where it weighs words of issues that are not in the index."""
    store = open_store(Settings(home=tmp_path, database_url=store_url, worker_threads=THREADS), patience=60)
    index, all_at_once = Index(store.engine, TextAnalyser()), threading.Barrier(THREADS, timeout=LONGEST)

    def find(_: int) -> int:
        with index.view(1) as view:
            all_at_once.wait()
            return view.count + len(store.own_issues(1))

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(find, range(THREADS))) == [0] * THREADS
    store.close()
