"""Which failures of a database are waited out, told by real ones of both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.jobs.running.retry import MOST_TRIES_OF_A_FAULT, Again, decide
from bot.store.database.engine import make_engine
from bot.store.database.failures import passes


def failure(do: Callable[[], object]) -> BaseException:
    with pytest.raises(sa.exc.SQLAlchemyError) as caught:
        do()
    return caught.value


@pytest.fixture
def engine(database_url: str) -> sa.Engine:
    return make_engine(database_url, patience=0.2)


def run(engine: sa.Engine, statement: str) -> Callable[[], object]:
    def do() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)

    return do


def test_what_is_wrong_with_the_statement_does_not_pass(engine: sa.Engine) -> None:
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    run(engine, "INSERT INTO once VALUES (1)")()
    for statement in ("SELECT nothing FROM nowhere", "SELEKT 1", "INSERT INTO once VALUES (1)"):
        assert not passes(failure(run(engine, statement))), statement


def test_a_locked_table_passes(engine: sa.Engine) -> None:
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    with engine.connect() as other:
        if engine.dialect.name == "sqlite":
            other.exec_driver_sql("BEGIN IMMEDIATE")
            asked = "INSERT INTO once VALUES (1)"
        else:
            other.exec_driver_sql("LOCK TABLE once")
            asked = "SET LOCAL lock_timeout = 100; INSERT INTO once VALUES (1)"
        assert passes(failure(run(engine, asked)))


def test_a_database_that_takes_no_writes_passes(engine: sa.Engine) -> None:
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    read_only = "PRAGMA query_only = on" if engine.dialect.name == "sqlite" else "SET TRANSACTION READ ONLY"
    with engine.connect() as connection:
        connection.exec_driver_sql(read_only)
        assert passes(failure(lambda: connection.exec_driver_sql("INSERT INTO once VALUES (1)")))


def test_a_right_that_was_taken_away_passes(engine: sa.Engine) -> None:
    if engine.dialect.name == "sqlite":
        pytest.skip("it has no rights")
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    with engine.connect() as connection:
        if not connection.exec_driver_sql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").scalar():
            pytest.skip("only a superuser may take on any role")
        # A role that every server has, and that has no right to anything of ours.
        connection.exec_driver_sql("SET LOCAL ROLE pg_monitor")
        assert passes(failure(lambda: connection.exec_driver_sql("INSERT INTO once VALUES (1)")))


def test_a_database_that_is_not_there_passes(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'no' / 'folder' / 'x.db'}", "postgresql+psycopg://nobody@127.0.0.1:9/none"):
        engine = sa.create_engine(url)
        assert passes(failure(lambda engine=engine: engine.connect())), url  # type: ignore[misc]


def test_a_server_that_cuts_the_connection_passes(engine: sa.Engine) -> None:
    if engine.dialect.name == "sqlite":
        pytest.skip("it has no server")
    with engine.connect() as connection:
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        run(engine, f"SELECT pg_terminate_backend({process})")()
        assert passes(failure(lambda: connection.exec_driver_sql("SELECT 1")))


def test_no_connection_of_the_pool_in_time_passes() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01)
    with engine.connect():
        assert passes(failure(engine.connect))


def test_it_is_waited_out_as_long_as_githubs_own_outages() -> None:
    away = sa.exc.TimeoutError("the pool")
    assert isinstance(decide(away, MOST_TRIES_OF_A_FAULT, 0.0), Again)
    assert not passes(ValueError("a fault of ours"))
