"""Noticing that the database is another one, because somebody has restored a backup beside a running worker.

Each connection finds the new one by itself. But what a worker remembers of its indexes is of the lost one, and the new
one may lack tables: the worker ends, and the next begins with what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import sqlalchemy as sa

from bot.store.database.files import look_at

# Each primary key has a number of its own, which no other gets while it is there. A dump that is restored makes its
# keys anew, after all rows; and a database that gets the name of another has another number itself.
_TABLES = sa.text(
    "SELECT pg_database.oid, relname, pg_constraint.oid FROM pg_database, "
    "pg_class LEFT JOIN pg_constraint ON conrelid = pg_class.oid AND contype = 'p' WHERE datname = current_database() "
    "AND relkind = 'r' AND relnamespace = to_regnamespace(current_schema())"
)
# Of the store and of the queue each release has one of these.
_BOTH = frozenset({"store_version", "jobs"})


class Replaceable(Protocol):
    """What a worker's databases are, as they were when it began."""

    def replaced(self) -> bool:
        """Whether others stand there, and have not changed since the last look: one may be half of a copy."""


class Files:
    """The files of some databases, as they are now. What is not there yet is left out."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._begun = {url: found[0] for url in urls if (found := look_at(url)) is not None}
        self._before = {url: look_at(url) for url in self._begun}
        self._lost = False

    def replaced(self) -> bool:
        """As `Replaceable` says."""
        found = {url: look_at(url) for url in self._begun}
        still, self._before = found == self._before, found
        self._lost |= any(one is None or one[0] != self._begun[url] for url, one in found.items())
        return self._lost and still and None not in found.values()


class Tables:
    """The tables of store and queue in a PostgreSQL database, as they are now."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._begun = self._before = self._look()

    def replaced(self) -> bool:
        """As `Replaceable` says: both are there, of an older release maybe, and no table waits for its key.

        An upgrade adds tables to those that it keeps. Raises what the database raises.
        """
        found = self._look()
        still, self._before = found == self._before, found
        (begun, _, keyless), (keys, names, without) = self._begun, found
        return still and names >= _BOTH and without <= keyless and keys.isdisjoint(begun)

    def _look(self) -> tuple[frozenset[tuple[int, int]], frozenset[str], int]:
        """The keys of tables, each with its database; the names of those tables; how many tables are without."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TABLES).all()
        keyed = [row for row in rows if row[2] is not None]
        keys = frozenset((database, key) for database, _, key in keyed)
        return keys, frozenset(name for _, name, _ in keyed), len(rows) - len(keyed)


def present(urls: Sequence[str], engine: sa.Engine) -> Replaceable:
    """What the databases at these addresses are now; `engine` is of one of them, and on PostgreSQL they are one."""
    return Files(urls) if engine.dialect.name == "sqlite" else Tables(engine)
