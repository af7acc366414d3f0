"""Copies the store and the queue to other databases, each in one transaction, while the bot is stopped.

`doppel migrate-store` calls this. The copy omits the index, which the bot reads again from GitHub.
Finished deliveries are copied, because the queue recognises redeliveries by the ids of deliveries.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import sqlalchemy as sa

from bot.deliveries.database import jobs, prepare, queue_engine
from bot.deliveries.queue import LEASE
from bot.domain.errors import Unavailable, UserError
from bot.interfaces.monitoring.exposition import heartbeats
from bot.platform.settings import Settings
from bot.storage.engine import make_engine, redacted, write
from bot.storage.failures import why
from bot.storage.migrate import has_schema, is_current, migrate
from bot.storage.replaced import sqlite_file
from bot.storage.schema import metadata

_COUNT = sa.select(sa.func.count())


class HostDatabases(NamedTuple):
    """A host's store and queue: two SQLite files or one PostgreSQL database. `name` omits the password."""

    name: str
    store: sa.Engine
    queue: sa.Engine

    def reach(self) -> None:
        """Connect once, unless the SQLite file is missing: connecting would create it. Raises Unavailable."""
        file = sqlite_file(self.store.url)
        if file is None or file.is_file():
            try:
                self.store.connect().close()
            except sa.exc.SQLAlchemyError as failure:
                raise Unavailable(f"the database {self.name} failed ({why(failure)})") from None

    def tables(self) -> list[tuple[sa.Engine, sa.Table]]:
        """The tables to copy, each with its database."""
        tables = [table for table in metadata.sorted_tables if not table.info.get("index")]
        return [*((self.store, table) for table in tables), (self.queue, jobs)]


def host_databases(settings: Settings) -> HostDatabases:
    """The databases that the settings name. Connects on first use."""
    engine = make_engine(settings.database_url, synchronous=settings.sqlite_synchronous)
    queue = queue_engine(settings) if engine.dialect.name == "sqlite" else engine
    return HostDatabases(redacted(settings.database_url), engine, queue)


def copy(source: HostDatabases, target: HostDatabases, *, dry_run: bool = False) -> dict[str, int]:
    """Copy all tables, or with `dry_run` only count rows. Returns how many rows each table has. Raises UserError."""
    if _identity(source) == _identity(target):
        raise UserError("both are the same database")
    # SQLite would create a missing file.
    if (file := sqlite_file(source.store.url)) and not file.is_file():
        raise UserError(f"{source.name}: there is no such file")
    if not has_schema(source.store):
        raise UserError(f"{source.name} holds nothing of Doppel's; is that the right database?")
    if not is_current(source.store):
        raise UserError(
            f"{source.name} has the schema of another release; use that release, or run `doppel migrate` on it first"
        )
    prepare(source.queue)
    with ExitStack() as stack:
        # On SQLite this stops all other writes to the source until the copy ends.
        sources = {engine: stack.enter_context(write(engine)) for engine in {source.store, source.queue}}
        if any(age < LEASE for age in heartbeats(source.queue)):
            raise UserError(
                f"a worker runs on {source.name}, or ran in the last {LEASE:.0f} s; stop web and worker first"
            )
        from_tables = [(sources[engine], table) for engine, table in source.tables()]
        if dry_run:
            return {table.name: reader.execute(_COUNT.select_from(table)).scalar_one() for reader, table in from_tables}
        migrate(target.store)
        prepare(target.queue)
        targets = {engine: stack.enter_context(write(engine)) for engine in {target.store, target.queue}}
        to_tables = {table.name: (targets[engine], table) for engine, table in target.tables()}
        full = [name for name, (writer, table) in to_tables.items() if writer.scalar(_COUNT.select_from(table))]
        if full:
            raise UserError(f"{target.name} has data already (in {full[0]}); copy to an empty database")
        return {table.name: _copy(reader, table, *to_tables[table.name]) for reader, table in from_tables}


def _identity(databases: HostDatabases) -> str:
    file = sqlite_file(databases.store.url)
    return databases.name if file is None else str(file.resolve())


def _copy(reading: sa.Connection, table: sa.Table, writing: sa.Connection, target: sa.Table) -> int:
    count = 0
    for batch in reading.execute(sa.select(table).execution_options(yield_per=500)).mappings().partitions():
        # Unlike SQLite, PostgreSQL cannot store NUL in a text.
        rows = [dict(row) for row in batch]
        for row in rows:
            row.update({name: text.replace("\0", "\ufffd") for name, text in row.items() if isinstance(text, str)})
        writing.execute(sa.insert(target), rows)
        count += len(rows)
    if writing.dialect.name == "postgresql" and (column := target.autoincrement_column) is not None:
        sequence = sa.func.pg_get_serial_sequence(target.name, column.name)  # numbers new rows
        writing.execute(sa.select(sa.func.setval(sequence, sa.func.max(column))))
    return count
