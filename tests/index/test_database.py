"""Many rows by their keys, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat

import numpy as np
import pytest
import sqlalchemy as sa

from bot.search.index.database import fetch, upsert
from bot.storage.engine import make_engine
from bot.storage.schema import index_chunks, index_vocabulary, metadata

COLUMNS = (index_vocabulary.c.term, index_vocabulary.c.hash)


@pytest.fixture
def connection(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A thousand terms of one repository, and one of another that has a hash in common with it."""
    with engine.begin() as connection:
        upsert(connection, index_vocabulary, [(1, key, key + 2_000) for key in range(-500, 500)])
        upsert(connection, index_vocabulary, [(2, 7, 1)])
        yield connection


@pytest.mark.parametrize(
    "keys", [[], [7], [7, 7, -7], [9_999], [2**62, -(2**62), 7], range(-500, 500), list(range(-900, 900)) * 2]
)
def test_the_rows_of_some_keys_come_once_each(connection: sa.Connection, keys: list[int]) -> None:
    rows = fetch(connection, 1, COLUMNS, index_vocabulary.c.hash, keys)
    assert sorted(rows) == [(key + 2_000, key) for key in sorted(set(keys)) if -500 <= key < 500]


def test_several_rows_of_one_key_all_come(connection: sa.Connection) -> None:
    upsert(connection, index_chunks, [(1, 5, chunk, b"%d" % chunk) for chunk in range(3)])
    rows = fetch(connection, 1, (index_chunks.c.postings,), index_chunks.c.list, [5, 6, 5])
    assert sorted(rows) == [(b"0",), (b"1",), (b"2",)]


def test_a_read_that_fails_is_not_tried_again(new_database: Callable[[str], str]) -> None:
    """On a full disk SQLite has rolled back what was written before it, and a second read would hide that."""
    engine = make_engine(new_database("sqlite"))
    metadata.create_all(engine)
    fails = chain([True], repeat(False))
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.set_progress_handler(lambda: next(fails), 1)
        with pytest.raises(sa.exc.OperationalError, match="interrupted"):
            fetch(connection, 1, COLUMNS, index_vocabulary.c.hash, [7])
        driver.set_progress_handler(None, 1)
    engine.dispose()


def has_read(connection: sa.Connection) -> int:
    """How many rows of the vocabulary PostgreSQL has read in this transaction."""
    asked = sa.text("SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = :table")
    return int(connection.execute(asked, {"table": index_vocabulary.name}).scalar_one())


on_postgres = pytest.mark.parametrize(
    "store_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


@on_postgres
def test_no_more_is_read_than_asked_for_before_there_are_statistics(connection: sa.Connection) -> None:
    """PostgreSQL would read all rows of the repository, of whose number it knows nothing yet."""
    before = has_read(connection)
    assert len(fetch(connection, 1, COLUMNS, index_vocabulary.c.hash, range(100))) == 100
    assert has_read(connection) - before == 100


@on_postgres
def test_no_more_is_read_of_a_repository_that_is_newer_than_the_statistics(connection: sa.Connection) -> None:
    """PostgreSQL would believe that it has one row, and read all of them for each key."""
    hashes = iter(np.random.default_rng(1).integers(-(2**62), 2**62, 50_000).tolist())

    def put(repo_id: int, count: int) -> list[int]:
        keys = list(islice(hashes, count))
        upsert(connection, index_vocabulary, [(repo_id, key, term) for term, key in enumerate(keys, 5_000)])
        return keys

    for repo_id, count in ((5, 20_000), (6, 10_000), (7, 6_500)):
        put(repo_id, count)
    connection.execute(sa.text(f"ANALYZE {index_vocabulary.name}"))
    keys, before = put(8, 5_000)[:100], has_read(connection)
    assert len(fetch(connection, 8, COLUMNS, index_vocabulary.c.hash, keys)) == 100
    assert has_read(connection) - before == 100


@on_postgres
def test_of_repositories_there_are_no_statistics(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        told = "SELECT relname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        found = connection.execute(sa.text(f"{told} WHERE attname = 'repo_id' AND attstattarget = 0")).scalars()
        assert set(found) >= {table.name for table in metadata.sorted_tables if table.info.get("index")}
