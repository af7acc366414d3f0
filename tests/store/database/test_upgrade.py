"""Upgrading with data, from every revision, while processes of the release before are still at work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from bot.settings import Settings
from bot.store import open_store
from bot.store.database.engine import make_engine, write
from bot.store.database.migrate import _config, is_current, migrate
from tests.store.made import rows
from tests.waiting import LONGEST, wait_until

#: What a release no longer uses is taken away in a later one. Revisions that take away, each with what goes; the
#: release before that revision must have done without it.
CONTRACTED: dict[str, set[str]] = {}


def revisions() -> list[str]:
    scripts = ScriptDirectory.from_config(_config())
    return [script.revision for script in reversed(list(scripts.walk_revisions()))]


def upgrade(engine: sa.Engine, revision: str) -> dict[str, sa.Table]:
    """Bring a database to a revision; the tables as code of that time knows them."""
    config = _config()
    with write(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    found = sa.MetaData()
    found.reflect(engine)
    return {name: table for name, table in found.tables.items() if name != "store_version"}


def stored(engine: sa.Engine, table: sa.Table) -> list[str]:
    with engine.connect() as connection:
        return in_order([dict(row) for row in connection.execute(sa.select(table)).mappings()])


def in_order(made: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, made))


@pytest.mark.slow
def test_from_every_revision_data_is_kept_and_code_of_before_goes_on_working(database_url: str) -> None:
    """The way of all data there can be: rows of each revision's new tables, carried through every later step.

    After each step the code of before reads what it wrote, and writes more: with its own columns alone.
    """
    engine = make_engine(database_url)
    wrote: dict[str, tuple[sa.Table, list[dict[str, Any]]]] = {}
    for revision in revisions():
        tables = upgrade(engine, revision)
        gone = CONTRACTED.get(revision, set())
        for name, (old, expected) in wrote.items():
            if name in gone:
                continue
            assert stored(engine, old) == in_order(expected), f"{revision} changed rows of {name}"
            more = rows(old, len(expected) + 1)[-1:]
            with write(engine) as connection:
                connection.execute(sa.insert(old), more)
            expected += more
        for name, table in tables.items():
            seen = wrote.get(name)
            if seen is None:
                made = rows(table, 3)
                with write(engine) as connection:
                    connection.execute(sa.insert(table), made)
                wrote[name] = (table, made)
    assert is_current(engine)
    assert len(wrote) > 20
    for name, (old, expected) in wrote.items():
        assert stored(engine, old) == in_order(expected), name
    engine.dispose()


@pytest.mark.slow
def test_no_step_takes_anything_away_from_the_code_of_before(database_url: str) -> None:
    engine = make_engine(database_url)
    before: dict[str, sa.Table] = {}
    for revision in revisions():
        after = upgrade(engine, revision)
        for name in before.keys() - CONTRACTED.get(revision, set()):
            assert name in after, f"{revision} takes away the table {name}"
            old, new = before[name], after[name]
            for column in old.columns:
                assert column.name in new.c, f"{revision} takes away {name}.{column.name}"
                assert str(new.c[column.name].type) == str(column.type), f"{revision}: {name}.{column.name}"
                wider = bool(new.c[column.name].nullable) >= bool(column.nullable)
                assert wider, f"{revision}: {name}.{column.name} must be given"
            for column in new.columns:
                added = column.name not in old.c
                assert not added or column.nullable or column.server_default, f"{revision}: {name}.{column.name}"
            assert _unique(new) <= _unique(old), f"{revision} forbids rows of {name}"
        before = after
    engine.dispose()


def _unique(table: sa.Table) -> set[tuple[str, ...]]:
    """The groups of columns in which no two rows of a table may be the same."""
    return {tuple(one.columns.keys()) for one in table.constraints if isinstance(one, sa.UniqueConstraint)} | {
        tuple(one.columns.keys()) for one in table.indexes if one.unique
    }


@pytest.mark.postgres
@pytest.mark.parametrize(("held", "asked"), [("index_chunks", "indexed_issues"), ("words", "closings")])
def test_who_reads_while_it_is_upgraded_waits_and_does_not_fail(
    new_database: Callable[[str], str], held: str, asked: str
) -> None:
    """Whoever reads tables in another order than the steps lock them must not wait for these while they wait for it."""
    engine = make_engine(new_database("postgres"))
    upgrade(engine, "0012")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool, engine.connect() as reading, engine.connect() as looking:
        assert reading.exec_driver_sql(f"SELECT count(*) FROM {held}").scalar() == 0
        migrating = pool.submit(migrate, engine)
        looking.execution_options(isolation_level="AUTOCOMMIT")
        wait_until(lambda: looking.exec_driver_sql(waits).scalar() or migrating.done())
        assert not migrating.done()
        assert reading.exec_driver_sql(f"SELECT count(*) FROM {asked}").scalar() == 0
        reading.rollback()
        migrating.result(LONGEST)
    assert is_current(engine)
    engine.dispose()


def test_a_process_of_before_starts_on_a_newer_schema(database_url: str, tmp_path: Path) -> None:
    """It has crashed in the middle of an upgrade, say, or the host has gone back to the release before."""
    engine = make_engine(database_url)
    migrate(engine)
    with write(engine) as connection:
        connection.execute(sa.text("UPDATE store_version SET version_num = '9999'"))
    engine.dispose()
    store = open_store(Settings(home=tmp_path, database_url=database_url))
    with store.engine.connect() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM store_version")).scalar() == "9999"
    store.close()
