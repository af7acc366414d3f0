"""A worker notices that its database is another one, when that is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.deliveries.database import ensure_schema, queue_engine
from bot.platform.settings import Settings
from bot.storage import open_store
from bot.storage.replaced import PostgresDatabase, SqliteDatabases
from tests.jobs.conftest import give_name_to


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """The files of store and queue."""
    paths = [tmp_path / "doppel.db", tmp_path / "doppel-queue.db"]
    for path in paths:
        path.write_bytes(b"as it was")
    return paths


def files(paths: list[Path]) -> SqliteDatabases:
    return SqliteDatabases([f"sqlite:///{path}" for path in paths])


def replace(path: Path, content: bytes) -> None:
    """Put another file in its place, as `mv` does."""
    other = path.with_suffix(".new")
    other.write_bytes(content)
    other.replace(path)


@pytest.mark.parametrize("which", [0, 1])
def test_one_replaced_file_is_enough_as_soon_as_it_stays_as_it_is(paths: list[Path], which: int) -> None:
    present = files(paths)
    assert [present.replaced(), present.replaced()] == [False, False]
    replace(paths[which], b"restored")
    assert not present.replaced(), "it may be half of a copy"
    with paths[which].open("ab") as file:
        file.write(b" to the end")
    assert not present.replaced(), "it was"
    assert present.replaced()


def test_what_is_taken_away_is_waited_for(paths: list[Path]) -> None:
    present = files(paths)
    paths[0].unlink()
    assert [present.replaced(), present.replaced()] == [False, False]
    paths[0].write_bytes(b"restored")
    assert [present.replaced(), present.replaced()] == [False, True]


def test_what_is_written_in_the_same_file_is_no_replacement(paths: list[Path]) -> None:
    present = files(paths)
    with paths[0].open("ab") as file:
        file.write(b", and more")
    assert [present.replaced(), present.replaced(), present.replaced()] == [False, False, False]


@pytest.fixture
def restored(new_store: Callable[[str], str]) -> str:
    """The URL of another database with all tables."""
    return new_store("postgres")


@pytest.fixture
def ours(new_store: Callable[[str], str]) -> Iterator[sa.Engine]:
    """The database of a worker, as it is connected to it."""
    engine = queue_engine(Settings(home=Path("unused"), database_url=new_store("postgres")))
    yield engine
    engine.dispose()


def execute(engine: sa.Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def now_named(restored: str, ours: sa.Engine) -> None:
    give_name_to(restored, ours.url.render_as_string(hide_password=False))


@pytest.mark.postgres
def test_a_database_that_gets_the_name_of_the_one_before_is_another(ours: sa.Engine, restored: str) -> None:
    databases = PostgresDatabase(ours)
    assert [databases.replaced(), databases.replaced()] == [False, False]
    now_named(restored, ours)
    assert [databases.replaced(), databases.replaced()] == [False, True]


@pytest.mark.postgres
def test_so_is_one_of_an_older_release_which_has_fewer_tables(ours: sa.Engine, restored: str) -> None:
    databases = PostgresDatabase(ours)
    now_named(restored, ours)
    execute(ours, "DROP TABLE muted")
    assert [databases.replaced(), databases.replaced()] == [False, True]


@pytest.mark.postgres
def test_a_dump_that_is_being_restored_is_waited_for(ours: sa.Engine) -> None:
    """It makes all tables, then their rows, and then the keys."""
    databases = PostgresDatabase(ours)
    execute(ours, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    assert [databases.replaced(), databases.replaced()] == [False, False]
    settings = Settings(home=Path("unused"), database_url=ours.url.render_as_string(hide_password=False))
    ensure_schema(settings)
    assert [databases.replaced(), databases.replaced()] == [False, False], "the store is not there yet"
    open_store(settings).close()
    execute(ours, "ALTER TABLE muted DROP CONSTRAINT muted_pkey")
    assert [databases.replaced(), databases.replaced()] == [False, False], "it is, but for a key"
    execute(ours, "ALTER TABLE muted ADD PRIMARY KEY (repo_id, number)")
    assert [databases.replaced(), databases.replaced()] == [False, True]


@pytest.mark.postgres
def test_an_upgrade_is_no_replacement(ours: sa.Engine) -> None:
    databases = PostgresDatabase(ours)
    execute(ours, "CREATE TABLE later (id integer PRIMARY KEY)")
    assert [databases.replaced(), databases.replaced()] == [False, False]
