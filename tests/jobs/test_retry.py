"""What becomes of a job that raised, and which failures of a database are waited out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from bot.deliveries.queue import MOST_TRIES, MOST_TRIES_OF_A_FAULT, decide
from bot.domain.errors import DidNotEnd, Forbidden, RateLimited, Retryable, Unavailable
from bot.platform.logs import describe, stack
from bot.storage.engine import make_engine
from bot.storage.failures import may_pass

chances = st.floats(0, 1, exclude_max=True)


def waits(error: Exception, tries: int, chance: float = 0.0) -> list[float]:
    decisions = [decide(error, failures, chance) for failures in range(1, tries)]
    return [wait for wait in decisions if wait is not None]


def test_waits_grow_and_add_up_to_most_of_a_day() -> None:
    spans = waits(Unavailable("down"), MOST_TRIES)
    assert len(spans) == MOST_TRIES - 1
    assert spans == sorted(spans)
    assert spans[0] == 10
    assert 18 * 3600 < sum(spans) < 24 * 3600
    assert decide(Unavailable("down"), MOST_TRIES, 0.0) is None


@given(after=st.floats(0, 1e6), failures=st.integers(1, MOST_TRIES - 1), chance=chances)
def test_g_retry_after_is_a_minimum(after: float, failures: int, chance: float) -> None:
    wait = decide(RateLimited("limit", after), failures, chance)
    assert wait is not None
    assert wait >= max(after, waits(Retryable("x"), failures + 1)[-1])


@given(chance=chances)
def test_chance_spreads_the_waits_by_a_tenth(chance: float) -> None:
    assert waits(Unavailable("x"), 2)[0] <= waits(Unavailable("x"), 2, chance)[0] <= 1.1 * waits(Unavailable("x"), 2)[0]


def test_a_fault_is_tried_three_times() -> None:
    assert len(waits(ValueError(), 9)) == MOST_TRIES_OF_A_FAULT - 1
    assert decide(ValueError(), MOST_TRIES_OF_A_FAULT, 0.0) is None
    assert decide(Forbidden("get issue", 403, "no"), 1, 0.0) is not None
    assert decide(DidNotEnd(), MOST_TRIES_OF_A_FAULT, 0.0) is None


def test_descriptions_hold_no_foreign_text() -> None:
    def fail() -> None:
        raise ValueError("the issue says SECRET")

    try:
        try:
            fail()
        except ValueError as inner:
            raise KeyError("SECRET") from inner
    except KeyError as error:
        for text in (describe(error), stack(error)):
            assert "SECRET" not in text
            assert "KeyError" in text
            assert "ValueError" in text
            assert "in fail" in text or "at fail" in text
    assert describe(Forbidden("get issue", 403, "SECRET")) == "Forbidden: get issue (403)"
    assert describe(DidNotEnd("it did not end: f.py:1 in f")) == "DidNotEnd: it did not end: f.py:1 in f"
    assert describe(RateLimited("search is used up")) == "RateLimited: search is used up"


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
        assert not may_pass(failure(run(engine, statement))), statement


def test_a_locked_table_passes(engine: sa.Engine) -> None:
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    with engine.connect() as other:
        if engine.dialect.name == "sqlite":
            other.exec_driver_sql("BEGIN IMMEDIATE")
            asked = "INSERT INTO once VALUES (1)"
        else:
            other.exec_driver_sql("LOCK TABLE once")
            asked = "SET LOCAL lock_timeout = 100; INSERT INTO once VALUES (1)"
        assert may_pass(failure(run(engine, asked)))


def test_a_database_that_takes_no_writes_passes(engine: sa.Engine) -> None:
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    read_only = "PRAGMA query_only = on" if engine.dialect.name == "sqlite" else "SET TRANSACTION READ ONLY"
    with engine.connect() as connection:
        connection.exec_driver_sql(read_only)
        assert may_pass(failure(lambda: connection.exec_driver_sql("INSERT INTO once VALUES (1)")))


def test_a_right_that_was_taken_away_passes(engine: sa.Engine) -> None:
    if engine.dialect.name == "sqlite":
        pytest.skip("it has no rights")
    run(engine, "CREATE TABLE once (number INTEGER PRIMARY KEY)")()
    with engine.connect() as connection:
        if not connection.exec_driver_sql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").scalar():
            pytest.skip("only a superuser may take on any role")
        # A role that every server has, and that has no right to anything of ours.
        connection.exec_driver_sql("SET LOCAL ROLE pg_monitor")
        assert may_pass(failure(lambda: connection.exec_driver_sql("INSERT INTO once VALUES (1)")))


def test_a_database_that_is_not_there_passes(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'no' / 'folder' / 'x.db'}", "postgresql+psycopg://nobody@127.0.0.1:9/none"):
        engine = sa.create_engine(url)
        assert may_pass(failure(lambda engine=engine: engine.connect())), url  # type: ignore[misc]


def test_a_server_that_cuts_the_connection_passes(engine: sa.Engine) -> None:
    if engine.dialect.name == "sqlite":
        pytest.skip("it has no server")
    with engine.connect() as connection:
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        run(engine, f"SELECT pg_terminate_backend({process})")()
        assert may_pass(failure(lambda: connection.exec_driver_sql("SELECT 1")))


def test_no_connection_of_the_pool_in_time_passes() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.01)
    with engine.connect():
        assert may_pass(failure(engine.connect))


def test_it_is_waited_out_as_long_as_githubs_own_outages() -> None:
    away = sa.exc.TimeoutError("the pool")
    assert decide(away, MOST_TRIES_OF_A_FAULT, 0.0) is not None
    assert not may_pass(ValueError("a fault of ours"))
