"""Noticing that the database is another one, because somebody has restored a backup beside a running worker.

Each connection finds the new one by itself. But what a worker remembers of its indexes is of the lost one, and the new
one may lack tables: the worker ends, and the next begins with what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import sqlalchemy as sa

from bot.jobs.queue.database import SCHEMA, queue_url
from bot.settings import Settings
from bot.store.database.files import look_at

# Each primary key has a number of its own, which no other gets while it is there. A dump that is restored makes its
# keys anew, after all rows; and a database that gets the name of another has another number itself.
_TABLES = sa.text(
    "SELECT pg_database.oid, relname, pg_constraint.oid FROM pg_database, "
    "pg_class LEFT JOIN pg_constraint ON conrelid = pg_class.oid AND contype = 'p' WHERE datname = current_database() "
    "AND relkind = 'r' AND relnamespace IN (to_regnamespace(current_schema()), to_regnamespace(:queue))"
)
# Of the store and of the queue each release has one of these.
_BOTH = frozenset({"store_version", "workflow_status"})


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
        begun, found = self._begun, self._look()
        still, self._before = found == self._before, found
        whole = found.names >= _BOTH and found.without <= begun.without
        return still and whole and found.keys.isdisjoint(begun.keys)

    def _look(self) -> _Found:
        with self._engine.connect() as connection:
            rows = connection.execute(_TABLES, {"queue": SCHEMA}).all()
        keyed = [row for row in rows if row[2] is not None]
        keys = frozenset((database, key) for database, _, key in keyed)
        return _Found(keys, frozenset(name for _, name, _ in keyed), len(rows) - len(keyed))


class _Found(NamedTuple):
    """The keys of tables, each with its database; the names of those tables; how many tables are `without`."""

    keys: frozenset[tuple[int, int]]
    names: frozenset[str]
    without: int


def present(settings: Settings, engine: sa.Engine) -> Replaceable:
    """What the databases are now; `engine` is the queue's."""
    if engine.dialect.name == "sqlite":
        return Files((settings.database_url, queue_url(settings)))
    return Tables(engine)
