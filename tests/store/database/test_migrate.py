"""The schema: the migrations make what the tables say, once, however many processes start at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bot.platform.settings import Settings
from bot.storage import open_store
from bot.storage.engine import make_engine, write
from bot.storage.migrate import is_current, migrate
from bot.storage.schema import metadata


def test_a_new_database_gets_exactly_the_tables_of_the_schema(database_url: str) -> None:
    engine = make_engine(database_url)
    assert not is_current(engine)
    migrate(engine)
    assert is_current(engine)
    with engine.connect() as connection:
        options = {"version_table": "store_version", "compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
    engine.dispose()


def test_several_starting_at_once_migrate_once(database_url: str) -> None:
    def start(_: int) -> bool:
        engine = make_engine(database_url)
        migrate(engine)
        current = is_current(engine)
        engine.dispose()
        return current

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(start, range(6)))


def test_sqlite_runs_in_wal_mode_and_makes_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "new" / "doppel.db"
    store = open_store(Settings(home=tmp_path, database_url=f"sqlite:///{path}", sqlite_synchronous="FULL"))
    with store.engine.connect() as connection:
        assert connection.execute(sa.text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(sa.text("PRAGMA synchronous")).scalar_one() == 2
    store.close()
    assert path.parent.stat().st_mode & 0o077 == 0


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
