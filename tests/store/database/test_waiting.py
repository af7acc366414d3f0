"""A process that starts while another one brings a schema up to date waits for as long as that takes, and says so."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.jobs import Inbox, QueueUnavailable
from bot.jobs.queue import database
from bot.settings import Settings
from bot.store.database import migrate as migrating
from bot.store.database import waiting
from bot.store.database.engine import make_engine
from bot.store.database.migrate import is_current, migrate
from bot.store.database.waiting import alone

pytestmark = pytest.mark.slow

#: Seconds that a statement waits for a lock here, instead of thirty, and that the migration takes: several times that.
PATIENCE, LONG = 0.3, 2.0


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("PAUSE", 0.05), ("FIRST_TOLD", 0.1), ("TOLD_EVERY", 0.5)):
        monkeypatch.setattr(waiting, name, seconds)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The first migration takes long; the event says that it has begun."""
    begun, real = threading.Event(), migrating._config

    def config() -> object:
        made = real()
        if begun.is_set():
            return made
        real_attribute = made.attributes

        class Slow(dict[str, object]):
            def __setitem__(self, name: str, value: object) -> None:
                # It has its lock by now.
                begun.set()
                time.sleep(LONG)
                super().__setitem__(name, value)

        made.attributes = Slow(real_attribute)
        return made

    monkeypatch.setattr(migrating, "_config", config)
    return begun


@contextmanager
def migrating_slowly(url: str, slow: threading.Event) -> Iterator[Future[None]]:
    engine = make_engine(url)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(migrate, engine)
        assert slow.wait(10)
        yield first
        first.result(10)
    engine.dispose()


def test_who_waits_starts_when_it_is_done_and_says_so_meanwhile(
    database_url: str, slow: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(database_url, patience=PATIENCE)
    began = time.monotonic()
    with migrating_slowly(database_url, slow) as first:
        assert not first.done()
        migrate(engine, wait=True)
    waited = time.monotonic() - began
    assert is_current(engine)
    told = [record.getMessage() for record in caplog.records if record.name == waiting.log.name]
    # Once in a while, however long it took, and not with every try.
    assert 2 <= len(told) <= 2 + waited / waiting.TOLD_EVERY
    assert told[-1].startswith("another process has locked the store, to bring its schema up to date: waited for it")
    engine.dispose()


def test_who_must_answer_soon_does_not_wait(database_url: str, slow: threading.Event) -> None:
    """A thread of the web process, say."""
    engine = make_engine(database_url, patience=PATIENCE)
    with migrating_slowly(database_url, slow) as first:
        with pytest.raises(sa.exc.OperationalError):
            migrate(engine)
        assert not first.done()
    engine.dispose()


def test_who_waits_takes_over_from_one_that_fails(
    database_url: str, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    from alembic import command

    upgrade, tries = command.upgrade, list[int]()

    def failing_once(*arguments: object) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise ZeroDivisionError
        upgrade(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(command, "upgrade", failing_once)
    engine = make_engine(database_url, patience=PATIENCE)
    with contextlib.suppress(ZeroDivisionError), migrating_slowly(database_url, slow):
        migrate(engine, wait=True)
    assert is_current(engine) and len(tries) == 2
    engine.dispose()


def test_the_queue_is_waited_for_as_well(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(home=tmp_path, database_url=database_url)
    engine_of: Callable[..., sa.Engine] = database.queue_engine
    monkeypatch.setattr(
        database, "queue_engine", lambda settings, **options: engine_of(settings, **options | {"patience": PATIENCE})
    )
    holding, over = make_engine(database.queue_url(settings)), list[float]()

    def hold(begun: threading.Event) -> None:
        with holding.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(sa.select(sa.func.pg_advisory_lock(database._TURN)))
            begun.set()
            time.sleep(LONG)
            over.append(time.monotonic())
            if connection.dialect.name != "sqlite":
                connection.execute(sa.select(sa.func.pg_advisory_unlock(database._TURN)))

    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold, begun)
        assert begun.wait(10)
        database.ensure_schema(settings)
        assert over and time.monotonic() >= over[0]
        held.result(10)
    assert sum("has locked the queue" in record.getMessage() for record in caplog.records) >= 2
    assert caplog.records[0].levelno == logging.WARNING
    with holding.connect() as connection:
        tables = {table.name for table in database._own.sorted_tables}
        assert tables <= set(sa.inspect(connection).get_table_names())
    holding.dispose()


@pytest.mark.postgres
def test_a_delivery_does_not_wait_while_another_process_upgrades_the_queue(
    new_database: Callable[[str], str], tmp_path: Path
) -> None:
    """Nor is the queue upgraded beside it, as DBOS would do after half a minute."""
    settings = Settings(home=tmp_path, database_url=new_database("postgres"))
    engine, began = make_engine(settings.database_url), time.monotonic()
    with closing(Inbox(settings)) as inbox:
        with alone(engine, database._TURN, "the queue", None):
            with pytest.raises(QueueUnavailable):
                inbox.check()
            assert time.monotonic() - began < 8
        inbox.check()
    engine.dispose()
