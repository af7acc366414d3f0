"""A store on each kind of database, migrated once a module and empty for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from bot.storage import Store
from bot.storage.engine import make_engine
from bot.storage.migrate import migrate
from bot.storage.schema import metadata


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def migrated(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[Store]:
    engine = make_engine(new_database(request.param), patience=10)
    migrate(engine)
    store = Store(engine)
    yield store
    store.close()


@pytest.fixture
def store(migrated: Store) -> Store:
    """An empty store."""
    with migrated.engine.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(sa.delete(table))
    return migrated
