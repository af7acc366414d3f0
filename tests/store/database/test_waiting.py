"""A process that starts while another one brings a schema up to date waits for as long as that takes, and says so."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.deliveries import database
from bot.platform.settings import Settings
from bot.storage import migrate as migrating
from bot.storage.engine import make_engine
from bot.storage.migrate import is_current, migrate
from bot.storage.schema import metadata
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow

#: Seconds that a statement waits for a lock here, instead of thirty.
PATIENCE = 0.3


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("PAUSE", 0.05), ("FIRST_LOGGED", 0.1), ("LOGGED_EVERY", 0.5)):
        monkeypatch.setattr(migrating, name, seconds)


@dataclass
class Held:
    """What has `begun`, and lasts until it is let `go`."""

    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> None:
        self.begun.set()
        assert self.go.wait(LONGEST)

    @contextmanager
    def until(self, happened: Callable[[], object]) -> Iterator[None]:
        """It goes on once something has happened of what is done inside."""
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(wait_until, happened)
            waiting.add_done_callback(lambda _: self.go.set())
            yield
            waiting.result(LONGEST)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Held:
    """The first migration, which holds its lock."""
    held, real = Held(), metadata.create_all

    def create_all(connection: sa.Connection) -> None:
        if not held.begun.is_set():
            held.hold()
        real(connection)

    monkeypatch.setattr(metadata, "create_all", create_all)
    return held


@contextmanager
def migrating_slowly(url: str, slow: Held) -> Iterator[Future[None]]:
    engine = make_engine(url)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(migrate, engine)
        assert slow.begun.wait(LONGEST)
        yield first
        first.result(LONGEST)
    engine.dispose()


def test_who_waits_starts_when_it_is_done_and_says_so_meanwhile(
    database_url: str, slow: Held, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(database_url, patience=PATIENCE)
    began = time.monotonic()

    def told() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == migrating.log.name]

    with migrating_slowly(database_url, slow), slow.until(lambda: len(told()) >= 2):
        migrate(engine, wait=True)
    waited = time.monotonic() - began
    assert is_current(engine)
    # Once in a while, however long it took, and not with every try.
    assert 2 <= len(told()) <= 2 + waited / migrating.LOGGED_EVERY
    assert told()[-1].startswith("another process has locked the store to upgrade the schema; waited for")
    engine.dispose()


def test_who_must_answer_soon_does_not_wait(database_url: str, slow: Held) -> None:
    """A thread of the web process, say."""
    engine = make_engine(database_url, patience=PATIENCE)
    with migrating_slowly(database_url, slow) as first:
        with pytest.raises(sa.exc.OperationalError):
            migrate(engine)
        assert not first.done()
        slow.go.set()
    engine.dispose()


def test_the_queue_is_waited_for_as_well(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(home=tmp_path, database_url=database_url)
    engine_of: Callable[..., sa.Engine] = database.queue_engine
    monkeypatch.setattr(
        database, "queue_engine", lambda settings, **options: engine_of(settings, **options | {"patience": PATIENCE})
    )
    holding, other = make_engine(database.queue_url(settings)), Held()

    def told() -> int:
        return sum("has locked the queue" in record.getMessage() for record in caplog.records)

    def hold() -> None:
        with holding.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(sa.select(sa.func.pg_advisory_lock(database._LOCK)))
            other.hold()
            if connection.dialect.name != "sqlite":
                connection.execute(sa.select(sa.func.pg_advisory_unlock(database._LOCK)))

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        assert other.begun.wait(LONGEST)
        with other.until(lambda: told() >= 2):
            database.ensure_schema(settings)
            assert other.go.is_set()
        held.result(LONGEST)
    assert caplog.records[0].levelno == logging.WARNING
    with holding.connect() as connection:
        assert sa.inspect(connection).has_table(database.jobs.name)
    holding.dispose()
