"""`doppel migrate-store`: everything arrives, exactly once, whatever happens in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from bot.cli.migrate_store import migrate_store
from bot.errors import SettingsError, UserError
from bot.events import IssueEvent
from bot.jobs import DeadLetters, Inbox, QueueUnavailable, ensure_schema
from bot.jobs.queue.database import queue_engine, workflow_table
from bot.jobs.recovery.executors import Executor, beat, leave
from bot.model import Actor, RepoRef, Repository
from bot.moving import move, plan
from bot.moving.moving import _own
from bot.moving.places import Place, place
from bot.settings import Settings
from bot.store import Store, open_store
from bot.store.tables.schema import metadata
from bot.web import create_app
from bot.wiring.clients import prepare_databases
from tests.store.made import rows
from tests.waiting import wait_until

pytestmark = pytest.mark.postgres

MANY = 3_000
ROOT = Path(__file__).parents[2]


class Broken(Exception):
    """What a test breaks a move off with."""


def opened(number: int) -> IssueEvent:
    repository = Repository(5, RepoRef("acme", "app"), private=False)
    return IssueEvent("opened", 1, repository, number, Actor("ann"), Actor("ann"))


def content(one: Place) -> dict[str, list[Any]]:
    """Everything that a place holds, as sets of rows."""
    found = {}
    for table in one.tables():
        with one.engine(table).connect() as connection:
            found[table.name] = sorted(repr(dict(row)) for row in connection.execute(sa.select(table)).mappings())
    return found


def fill(settings: Settings) -> None:
    """A row or more in every table; more than one piece in some. Deliveries that wait, are done, are given up."""
    with closing(open_store(settings)) as store, store.engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(sa.insert(table), rows(table, MANY if table.name in ("counted", "words") else 7))
    with closing(Inbox(settings)) as inbox:
        for number in range(20):
            inbox.put(f"delivery-{number}", opened(number), delay_seconds=3600 if number == 3 else 0)
    engine = queue_engine(settings)
    workflows = workflow_table(engine)
    with engine.begin() as connection:
        for delivery, status in (("delivery-1", "SUCCESS"), ("delivery-2", "ERROR"), ("delivery-4", "PENDING")):
            ended = sa.update(workflows).where(workflows.c.workflow_uuid == delivery)
            connection.execute(ended.values(status=status, completed_at=1, executor_id="somebody dead"))
    engine.dispose()


@pytest.fixture(scope="module")
def filled(new_database: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=new_database("sqlite"))
    fill(settings)
    return settings


@pytest.fixture
def here(filled: Settings) -> Iterator[Place]:
    with closing(place(filled)) as one:
        yield one


@pytest.fixture
def target(new_database: Callable[[str], str], tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=new_database("postgres"))


@pytest.fixture
def there(target: Settings) -> Iterator[Place]:
    with closing(place(target)) as one:
        yield one


def test_from_sqlite_to_postgres_and_back_everything_arrives(
    here: Place, there: Place, target: Settings, new_database: Callable[[str], str]
) -> None:
    told: list[int] = []
    moved = move(here, there, lambda _, rows: told.append(rows))
    before = content(here)
    assert moved.rows == {name: len(found) for name, found in before.items()}
    assert sum(told) == 2 * sum(moved.rows.values())
    assert not moved.resumed
    assert {name for name, count in moved.rows.items() if not count} <= {"workflow_output"}

    with closing(Inbox(target)) as inbox:
        assert not inbox.put("delivery-1", opened(1)), "what is done stays known"
        assert not inbox.put("delivery-5", opened(5)), "so does what waits"
    with closing(DeadLetters(target)) as dead_letters:
        assert [letter.delivery_id for letter in dead_letters.list()] == ["delivery-2"]
    with closing(Store(there.store)) as store, store.engine.begin() as connection:
        numbered = [one for one in metadata.sorted_tables if one.autoincrement_column is not None]
        for table in numbered:
            values = {**rows(table, 8)[-1], "command_id": 99, "number": 99}
            new = {name: value for name, value in values.items() if name in table.c and name != "id"}
            key = connection.execute(sa.insert(table).values(new)).inserted_primary_key
            assert tuple(key or ()) == (8,), "new rows are numbered on from there"
            connection.execute(sa.delete(table).where(table.c.id == 8))
    assert "verdicts" in [table.name for table in numbered]

    back = Settings(home=target.home, database_url=new_database("sqlite"))
    with closing(place(back)) as again:
        move(there, again, lambda *_: None)
        assert content(again) == before


@pytest.mark.parametrize("after", [4, 30])
def test_a_move_that_broke_off_goes_on_where_it_was(here: Place, there: Place, after: int) -> None:
    told: list[int] = []

    def breaking(_: str, rows: int) -> None:
        told.append(rows)
        if len(told) == after:
            raise Broken

    with pytest.raises(Broken):
        move(here, there, breaking)
    assert plan(here, there).resumed
    copied = sum(told)
    told.clear()
    moved = move(here, there, lambda _, rows: told.append(rows))
    assert moved.resumed
    assert content(there) == {**content(here), "workflow_status": content(there)["workflow_status"]}
    assert sum(told) == 2 * sum(moved.rows.values()) - copied, "nothing is copied twice"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_nobody_begins_to_work_with_what_is_half_moved(
    here: Place, new_database: Callable[[str], str], tmp_path: Path, kind: str
) -> None:
    """What they wrote would differ from what the source has, and the move could not be ended."""
    target = Settings(home=tmp_path, database_url=new_database(kind), webhook_secrets=("a-secret",))

    def breaking(*_: object) -> None:
        raise Broken

    with closing(place(target)) as there:
        with pytest.raises(Broken):
            move(here, there, breaking)
        for start in (prepare_databases, open_store, ensure_schema):
            with pytest.raises(UserError, match=r"a move there has not ended; repeat `doppel migrate-store`"):
                start(target)
        assert create_app(target).test_client().get("/readyz").status_code == 503
        with closing(Inbox(target)) as inbox, pytest.raises(QueueUnavailable, match="has not ended"):
            inbox.put("too early", opened(1))
        assert move(here, there, lambda *_: None).resumed
    prepare_databases(target)
    with closing(Inbox(target)) as inbox:
        assert inbox.put("in time", opened(1))


@pytest.mark.parametrize("first", ["store", "queue"])
def test_a_move_that_breaks_off_over_its_notes_ends_when_it_is_repeated(
    here: Place, new_database: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Store and queue are two files of SQLite's, and the notes of one go before those of the other."""
    with closing(place(Settings(home=tmp_path, database_url=new_database("sqlite")))) as there:

        def breaking(engine: sa.Engine) -> None:
            if engine is getattr(there, first):
                drop(engine)
            else:
                # The other's turn may be first.
                drop(getattr(there, first))
                raise Broken

        drop = _own.drop_all
        monkeypatch.setattr(_own, "drop_all", breaking)
        with pytest.raises(Broken):
            move(here, there, lambda *_: None)
        monkeypatch.undo()
        assert plan(here, there).resumed
        assert move(here, there, lambda *_: None).resumed
        assert content(there) == content(here)
        assert not any(sa.inspect(engine).has_table("move_notes") for engine in there.engines())


@pytest.mark.processes
def test_a_move_that_is_killed_goes_on_where_it_was(filled: Settings, target: Settings, there: Place) -> None:
    command = [sys.executable, "-m", "bot", "migrate-store", "--from", filled.database_url, "--to", target.database_url]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "DOPPEL_HOME": str(target.home)}
    process = subprocess.Popen(command, env=environ, cwd=target.home, stderr=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or _begun(there), every=0.002)
    process.kill()
    assert process.wait() == -9, "it was killed in the middle"
    done = subprocess.run(
        [*command, "--json"], env=environ, cwd=target.home, capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["resumed"]
    with closing(place(filled)) as here:
        assert answer["tables"] == {name: len(found) for name, found in content(here).items()}
    assert {name: len(found) for name, found in content(there).items()} == answer["tables"]


def _begun(there: Place) -> bool:
    """Whether some of the larger tables is in the target, and not all."""
    if not sa.inspect(there.store).has_table("move_notes"):
        return False
    with there.store.connect() as connection:
        return bool(connection.execute(sa.text("SELECT count(*) FROM move_notes")).scalar_one())


def test_a_target_with_other_data_is_refused(here: Place, there: Place, target: Settings) -> None:
    there.prepare()
    with there.store.begin() as connection:
        connection.execute(sa.text("INSERT INTO counters VALUES ('tries', 1)"))
    for refused in (plan, lambda source, target: move(source, target, lambda *_: None)):
        with pytest.raises(UserError, match=r"has data already \(counters: 1 row\)"):
            refused(here, there)
    with pytest.raises(UserError, match="the same database"):
        plan(here, here)


def test_a_file_is_the_same_database_however_its_path_is_written(
    new_database: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was opened twice, and the command waited for itself until it took the file for locked by another."""
    settings = Settings(home=tmp_path, database_url=new_database("sqlite"))
    file = Path(str(sa.make_url(settings.database_url).database))
    monkeypatch.chdir(file.parent)
    written = settings.model_copy(update={"database_url": f"sqlite:///{file.name}"})
    with closing(place(settings)) as here, closing(place(written)) as twin:
        here.prepare()
        with pytest.raises(UserError, match="the same database"):
            plan(here, twin)


def test_a_target_with_a_part_of_another_move_is_refused(
    here: Place, there: Place, new_database: Callable[[str], str], tmp_path: Path
) -> None:
    def breaking(*_: object) -> None:
        raise Broken

    with pytest.raises(Broken):
        move(here, there, breaking)
    with closing(place(Settings(home=tmp_path, database_url=new_database("sqlite")))) as other:
        other.prepare()
        with pytest.raises(UserError, match="a part of another database"):
            move(other, there, breaking)


def test_what_changed_while_the_move_was_broken_off_is_noticed(
    there: Place, new_database: Callable[[str], str], tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, database_url=new_database("sqlite"))
    with closing(place(settings)) as source:
        source.prepare()
        with source.store.begin() as connection:
            connection.execute(sa.text("INSERT INTO counters VALUES ('one', 1), ('two', 2)"))

        def breaking(name: str, _: int) -> None:
            if name == "counters":
                raise Broken

        with pytest.raises(Broken):
            move(source, there, breaking)
        with source.store.begin() as connection:
            connection.execute(sa.text("UPDATE counters SET value = 3 WHERE name = 'one'"))
        with pytest.raises(UserError, match="counters: row 1 is not what the source has"):
            move(source, there, lambda *_: None)


def test_a_source_with_a_living_worker_is_refused(here: Place, there: Place) -> None:
    worker = Executor("somebody", "another machine", 1)
    beat(here.queue, worker)
    try:
        with pytest.raises(UserError, match="a worker runs on sqlite"):
            plan(here, there)
    finally:
        leave(here.queue, worker)


def test_while_it_moves_nobody_writes_to_the_source(here: Place, there: Place, filled: Settings) -> None:
    def try_to_write(*_: object) -> None:
        with closing(Inbox(filled, patience=0.1)) as inbox:
            inbox.put("too late", opened(1))

    with pytest.raises(QueueUnavailable):
        move(here, there, try_to_write)


def test_the_queue_of_a_source_on_postgres_waits_for_the_store_however_long_that_takes(
    here: Place, there: Place, new_database: Callable[[str], str], tmp_path: Path
) -> None:
    move(here, there, lambda *_: None)
    before = content(there)

    @sa.event.listens_for(there.queue, "connect")
    def be_impatient(connection: Any, _: object) -> None:
        # As make_engine's minute is for a store that takes longer.
        connection.execute("SET idle_in_transaction_session_timeout = 3000")
        connection.commit()

    there.queue.dispose()
    slowly = iter([4.0])
    with closing(place(Settings(home=tmp_path, database_url=new_database("sqlite")))) as back:
        move(there, back, lambda *_: time.sleep(next(slowly, 0.0)))
        assert content(back) == before


def test_a_source_that_is_not_there_is_called_so_and_nothing_is_made(
    filled: Settings, target: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path / "home"))
    slip, new = "sqlite:///slip.db", "sqlite:///new.db"
    for options in (["--from", slip, "--to", new], ["--from", slip, "--to", target.database_url, "--dry-run"]):
        with pytest.raises(UserError, match=r"^sqlite:///slip.db: there is no such file$"):
            CliRunner().invoke(migrate_store, options, catch_exceptions=False)
    with pytest.raises(UserError, match=r"holds nothing of Doppel's; is that the right database\?$"):
        CliRunner().invoke(migrate_store, ["--from", target.database_url, "--to", new], catch_exceptions=False)
    # A dry run looks for a target without making it.
    tried = CliRunner().invoke(migrate_store, ["--from", filled.database_url, "--to", new, "--dry-run"])
    assert "Nothing was changed." in tried.stdout
    assert list(tmp_path.iterdir()) == []
    moved = CliRunner().invoke(migrate_store, ["--from", filled.database_url, "--to", new])
    assert "Every row is there and was compared" in moved.stdout


@pytest.mark.parametrize(
    ("revision", "told"),
    [("0014", "of an earlier version; run `doppel migrate`"), ("9999", "of a later version; move it with that")],
)
def test_a_source_of_another_version_is_refused_with_what_helps(
    there: Place, new_database: Callable[[str], str], tmp_path: Path, revision: str, told: str
) -> None:
    """On a later version's schema, after the way back to this one, `doppel migrate` finds nothing to do."""
    settings = Settings(home=tmp_path / "other", database_url=new_database("sqlite"))
    with closing(open_store(settings)) as store, store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE store_version SET version_num = :revision"), {"revision": revision})
    with closing(place(settings)) as other, pytest.raises(UserError, match=told):
        plan(other, there)


def test_a_dry_run_says_what_would_be_moved_and_changes_nothing(
    filled: Settings, target: Settings, there: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOPPEL_HOME", str(tmp_path))
    # As of a variable that is not set.
    empty = CliRunner().invoke(migrate_store, ["--from", filled.database_url, "--to", ""])
    assert empty.exit_code == 2
    assert "--to is empty" in empty.stderr
    options = ["--from", filled.database_url, "--to", target.database_url, "--dry-run"]
    answer = json.loads(CliRunner().invoke(migrate_store, [*options, "--json"], catch_exceptions=False).stdout)
    assert answer["tables"]["words"] == MANY
    assert answer["dry_run"]
    assert sa.inspect(there.store).get_table_names() == []
    shown = CliRunner().invoke(migrate_store, options, catch_exceptions=False).stdout
    assert "words                      3,000" in shown
    assert "Nothing was changed." in shown


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--to", "host/name"], "--to: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH."),
        (
            ["--from", "host/name", "--to", "sqlite:////none/new.db"],
            "--from: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH; leave it out for DATABASE_URL.",
        ),
    ],
)
def test_an_address_that_is_none_is_told_of_the_option_that_gave_it(options: list[str], says: str) -> None:
    told = CliRunner().invoke(migrate_store, options)
    assert isinstance(told.exception, SettingsError)
    assert str(told.exception) == says
