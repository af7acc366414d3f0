"""`doppel migrate-store`: everything but the index arrives, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from bot.app.cli import cli
from bot.deliveries.database import jobs, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import IssueEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import Queue
from bot.domain.entities import Actor, RepoRef, Repository
from bot.domain.errors import SettingsError, UserError
from bot.platform.settings import Settings
from bot.storage import open_store
from bot.storage.schema import metadata
from handlers.database_copy import HostDatabases, copy, host_databases
from tests.store.made import rows

pytestmark = pytest.mark.postgres

MANY = 1_200


def opened(number: int) -> IssueEvent:
    repository = Repository(5, RepoRef("acme", "app"), private=False)
    return IssueEvent("opened", 1, repository, number, Actor("ann"), Actor("ann"))


def content(one: HostDatabases) -> dict[str, list[Any]]:
    """Everything that is copied, as a place holds it."""
    found = {}
    for engine, table in one.tables():
        with engine.connect() as connection:
            found[table.name] = sorted(repr(dict(row)) for row in connection.execute(sa.select(table)).mappings())
    return found


@pytest.fixture(scope="module")
def filled(new_database: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A row or more in every table. Deliveries that wait, are done, are given up."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=new_database("sqlite"))
    with closing(open_store(settings)) as store, store.engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(sa.insert(table), rows(table, MANY if table.name in ("muted", "usage") else 7))
    with closing(Inbox(settings)) as inbox:
        for number in range(20):
            inbox.put(f"delivery-{number}", opened(number), delay_seconds=3600 if number == 3 else 0)
    engine = queue_engine(settings)
    with engine.begin() as connection:
        for delivery, state in (("delivery-1", "done"), ("delivery-2", "dead")):
            ended = sa.update(jobs).where(jobs.c.id == delivery)
            connection.execute(ended.values(state=state, done_at=1))
    engine.dispose()
    return settings


@pytest.fixture
def target(new_database: Callable[[str], str], tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=new_database("postgres"))


def say(*options: str) -> Result:
    return CliRunner().invoke(cli, ["migrate-store", *options])


def test_from_sqlite_to_postgres_and_back_everything_arrives(
    filled: Settings, target: Settings, new_database: Callable[[str], str]
) -> None:
    here, there = host_databases(filled), host_databases(target)
    copied, before = copy(here, there), content(here)
    assert copied == {name: len(found) for name, found in before.items()}
    assert all(copied.values())
    with closing(Inbox(target)) as inbox:
        assert not inbox.put("delivery-1", opened(1)), "what is done stays known"
        assert not inbox.put("delivery-5", opened(5)), "so does what waits"
    with closing(DeadLetters(target)) as dead_letters:
        assert [letter.delivery_id for letter in dead_letters.list()] == ["delivery-2"]
    with closing(open_store(target)) as store, store.engine.begin() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM indexed_issues")).scalar() == 0
        verdicts = metadata.tables["verdicts"]
        values = {**rows(verdicts, 8)[-1], "command_id": 99, "number": 99}
        del values["id"]
        key = connection.execute(sa.insert(verdicts).values(values)).inserted_primary_key
        assert tuple(key or ()) == (8,), "new rows are numbered on from there"
        connection.execute(sa.delete(verdicts).where(verdicts.c.id == 8))
    again = host_databases(Settings(home=target.home, database_url=new_database("sqlite")))
    copy(there, again)
    assert content(again) == before


def test_what_fails_in_the_middle_leaves_nothing_and_can_be_repeated(
    filled: Settings, target: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.database_copy._copy", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        copy(host_databases(filled), host_databases(target))
    monkeypatch.undo()
    copy(host_databases(filled), host_databases(target))
    assert content(host_databases(target)) == content(host_databases(filled))


def test_what_must_not_be_is_refused_with_what_helps(
    filled: Settings, target: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path / "home"))
    here, slip, new = filled.database_url, "sqlite:///slip.db", "sqlite:///new.db"
    refused = {
        ("--from", slip, "--to", new): f"{slip}: there is no such file",
        ("--from", target.database_url, "--to", new): "holds nothing of Doppel's; is that the right database?",
        ("--from", here, "--to", here): "both are the same database",
    }
    for options, told in refused.items():
        result = say(*options)
        assert isinstance(result.exception, UserError)
        assert str(result.exception).endswith(told)
    queue = Queue(host_databases(filled).queue)
    queue.register("somebody")
    assert "stop web and worker first" in str(say("--from", here, "--to", new).exception)
    queue.unregister("somebody")
    assert list(tmp_path.iterdir()) == []

    assert "Nothing was changed." in say("--from", here, "--to", new, "--dry-run").stdout
    assert list(tmp_path.iterdir()) == []
    answer = json.loads(say("--from", here, "--to", target.database_url, "--json").stdout)
    assert answer["tables"]["usage"] == MANY
    full = say("--from", here, "--to", target.database_url).exception
    assert "has data already (" in str(full)


def test_a_source_of_another_release_is_refused(
    target: Settings, new_database: Callable[[str], str], tmp_path: Path
) -> None:
    """On a later release's schema, after the way back to this one, `doppel migrate` finds nothing to do."""
    settings = Settings(home=tmp_path / "other", database_url=new_database("sqlite"))
    with closing(open_store(settings)) as store, store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE store_version SET version_num = '9999'"))
    with pytest.raises(UserError, match="has the schema of another release"):
        copy(host_databases(settings), host_databases(target))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--to", "host/name"], "--to: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH."),
        (["--to", ""], "--to: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH."),
        (
            ["--from", "host/name", "--to", "sqlite:////none/new.db"],
            "--from: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH; leave it out for DATABASE_URL.",
        ),
    ],
)
def test_an_address_that_is_none_is_told_of_the_option_that_gave_it(options: list[str], says: str) -> None:
    told = say(*options)
    assert isinstance(told.exception, SettingsError)
    assert str(told.exception) == says
