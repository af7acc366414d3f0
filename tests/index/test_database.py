"""Many rows by their keys, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from bot.index.database import fetch, upsert
from bot.store.index_tables import index_chunks, index_vocabulary

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


@pytest.mark.parametrize("store_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_no_more_is_read_than_asked_for_before_there_are_statistics(connection: sa.Connection) -> None:
    """PostgreSQL would read all rows of the repository, of whose number it knows nothing yet."""
    asked = sa.text("SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = :table")
    before = connection.execute(asked, {"table": index_vocabulary.name}).scalar_one()
    assert len(fetch(connection, 1, COLUMNS, index_vocabulary.c.hash, range(100))) == 100
    assert connection.execute(asked, {"table": index_vocabulary.name}).scalar_one() - before == 100
