"""Notices that somebody has replaced the database, by restoring a backup beside a running worker.

Connections find the new one by themselves. But a worker remembers indexes of the old one, and the new one may lack
tables, so the worker ends and the next one starts afresh.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from bot.storage.files import look_at

# Each primary key has a number of its own. A restored dump makes new keys, after all rows; and a database that takes
# over another's name has another number itself.
_TABLES = sa.text(
    "SELECT pg_database.oid, relname, pg_constraint.oid FROM pg_database, "
    "pg_class LEFT JOIN pg_constraint ON conrelid = pg_class.oid AND contype = 'p' WHERE datname = current_database() "
    "AND relkind = 'r' AND relnamespace = to_regnamespace(current_schema())"
)
# Every release has these tables, one of the store and one of the queue.
_BOTH = frozenset({"store_version", "jobs"})


class Files:
    """The files of some SQLite databases, as they are now, without those that do not exist yet."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._begun = {url: found[0] for url in urls if (found := look_at(url)) is not None}
        self._before = {url: look_at(url) for url in self._begun}
        self._lost = False

    def replaced(self) -> bool:
        """Whether other files have taken their place, and have not changed since the last look: one may be half of a
        copy.
        """
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
        """Whether other tables have taken their place, are complete, and have not changed since the last look.

        They may be of an older release. An upgrade only adds tables. Raises what the database raises.
        """
        found = self._look()
        still, self._before = found == self._before, found
        (begun, _, keyless), (keys, names, without) = self._begun, found
        return still and names >= _BOTH and without <= keyless and keys.isdisjoint(begun)

    def _look(self) -> tuple[frozenset[tuple[int, int]], frozenset[str], int]:
        """The tables' primary keys, each with its database; the names of those tables; how many tables have no key."""
        with self._engine.connect() as connection:
            rows = connection.execute(_TABLES).all()
        keyed = [row for row in rows if row[2] is not None]
        keys = frozenset((database, key) for database, _, key in keyed)
        return keys, frozenset(name for _, name, _ in keyed), len(rows) - len(keyed)


def present(urls: Sequence[str], engine: sa.Engine) -> Files | Tables:
    """The databases at these addresses, as they are now; `engine` is of one, and on PostgreSQL they are the same."""
    return Files(urls) if engine.dialect.name == "sqlite" else Tables(engine)
