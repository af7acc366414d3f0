"""Copies the store and the queue from one database to another, while the bot is stopped, in one transaction.

The index is not copied, but read again from GitHub. The ids of deliveries that are done guard against redeliveries.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import sqlalchemy as sa

from bot.deliveries.database import jobs, prepare, queue_engine
from bot.deliveries.queue import LEASE
from bot.domain.errors import UserError
from bot.interfaces.monitoring.exposition import heartbeats
from bot.platform.settings import Settings
from bot.storage.engine import make_engine, redacted, write
from bot.storage.migrate import has_schema, is_current, migrate
from bot.storage.replaced import sqlite_file
from bot.storage.schema import metadata

# What belongs to the index.
_LEFT_OUT = {"backfills"}
_COUNT = sa.select(sa.func.count())


class HostDatabases(NamedTuple):
    """A host's store and queue: two SQLite files or one PostgreSQL database. `name` has no password."""

    name: str
    store: sa.Engine
    queue: sa.Engine

    def reach(self) -> None:
        """Connect once, since SQLAlchemy's errors do not name the database."""
        if (file := sqlite_file(self.store.url)) is None or file.is_file():
            self.store.connect().close()

    def tables(self) -> list[tuple[sa.Engine, sa.Table]]:
        """The tables to copy, each with its engine."""
        kept = [one for one in metadata.sorted_tables if not one.info.get("index") and one.name not in _LEFT_OUT]
        return [*((self.store, table) for table in kept), (self.queue, jobs)]


def host_databases(settings: Settings) -> HostDatabases:
    """The databases that settings name; connects on first use."""
    engine = make_engine(settings.database_url, synchronous=settings.sqlite_synchronous)
    queue = queue_engine(settings) if engine.dialect.name == "sqlite" else engine
    return HostDatabases(redacted(settings.database_url), engine, queue)


def copy(source: HostDatabases, target: HostDatabases, *, dry_run: bool = False) -> dict[str, int]:
    """Copy everything, or with `dry_run` only count; returns the rows of each table. Raises UserError."""
    ours, theirs = (file.resolve() if (file := sqlite_file(at.store.url)) else at.name for at in (source, target))
    if ours == theirs:
        raise UserError("both are the same database")
    # Asking SQLite for a missing file would create it.
    if (file := sqlite_file(source.store.url)) and not file.is_file():
        raise UserError(f"{source.name}: there is no such file")
    if not has_schema(source.store):
        raise UserError(f"{source.name} holds nothing of Doppel's; is that the right database?")
    if not is_current(source.store):
        raise UserError(f"{source.name} has the schema of another release; run that, or `doppel migrate` on it first")
    prepare(source.queue)
    with ExitStack() as stack:
        # On SQLite nobody else can write to the source until this ends.
        reading = {one: stack.enter_context(write(one)) for one in {source.store, source.queue}}
        if any(age < LEASE for age in heartbeats(source.queue)):
            raise UserError(f"a worker runs on {source.name}, or did {LEASE:.0f} s ago; stop web and worker first")
        if dry_run:
            return {one.name: reading[at].execute(_COUNT.select_from(one)).scalar_one() for at, one in source.tables()}
        migrate(target.store)
        prepare(target.queue)
        writing = {one: stack.enter_context(write(one)) for one in {target.store, target.queue}}
        there = {table.name: (writing[engine], table) for engine, table in target.tables()}
        full = [name for name, (connection, table) in there.items() if connection.scalar(_COUNT.select_from(table))]
        if full:
            raise UserError(f"{target.name} has data already (in {full[0]}); copy to an empty database")
        return {table.name: _copy(reading[engine], table, *there[table.name]) for engine, table in source.tables()}


def _copy(reading: sa.Connection, table: sa.Table, writing: sa.Connection, there: sa.Table) -> int:
    count = 0
    for piece in reading.execute(sa.select(table).execution_options(yield_per=500)).mappings().partitions():
        # PostgreSQL cannot hold NUL in a text, and SQLite can.
        rows = [{k: v.replace("\0", "\ufffd") if isinstance(v, str) else v for k, v in row.items()} for row in piece]
        writing.execute(sa.insert(there), rows)
        count += len(rows)
    if writing.dialect.name == "postgresql" and (column := there.autoincrement_column) is not None:
        # New rows are numbered on from where the copied ones end, as SQLite does by itself.
        sequence = sa.func.pg_get_serial_sequence(there.name, column.name)
        writing.execute(sa.select(sa.func.setval(sequence, sa.func.max(column))))
    return count
