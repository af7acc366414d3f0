"""A worker notices that its database is another one, when that is whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.jobs import ensure_schema
from bot.jobs.queue.database import queue_engine
from bot.jobs.recovery.replaced import Files, present
from bot.settings import Settings
from bot.store import open_store
from tests.jobs.renaming import give_name_to


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """The files of store and queue."""
    paths = [tmp_path / "doppel.db", tmp_path / "doppel-queue.db"]
    for path in paths:
        path.write_bytes(b"as it was")
    return paths


def files(paths: list[Path]) -> Files:
    return Files([f"sqlite:///{path}" for path in paths])


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


@pytest.mark.postgres
def test_a_database_that_gets_the_name_of_the_one_before_is_another(new_store: Callable[[str], str]) -> None:
    ours, restored = new_store("postgres"), new_store("postgres")
    settings = Settings(home=Path("unused"), database_url=ours)
    engine = queue_engine(settings)
    databases = present(settings, engine)
    assert [databases.replaced(), databases.replaced()] == [False, False]
    give_name_to(restored, ours)
    assert [databases.replaced(), databases.replaced()] == [False, True]
    engine.dispose()


@pytest.mark.postgres
def test_tables_that_are_restored_one_after_the_other_are_waited_for(new_store: Callable[[str], str]) -> None:
    settings = Settings(home=Path("unused"), database_url=new_store("postgres"))
    engine = queue_engine(settings)
    databases = present(settings, engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA dbos CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    assert [databases.replaced(), databases.replaced()] == [False, False]
    ensure_schema(settings)
    assert [databases.replaced(), databases.replaced()] == [False, False], "the store's are not there yet"
    with closing(open_store(settings)):
        assert [databases.replaced(), databases.replaced()] == [False, True]
    engine.dispose()


@pytest.mark.postgres
def test_an_upgrade_is_no_replacement(new_store: Callable[[str], str]) -> None:
    settings = Settings(home=Path("unused"), database_url=new_store("postgres"))
    engine = queue_engine(settings)
    databases = present(settings, engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE later (id integer PRIMARY KEY)")
    assert [databases.replaced(), databases.replaced()] == [False, False]
    engine.dispose()
