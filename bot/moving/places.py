"""The two databases of a host, store and queue, as places that rows are moved from and to.

On PostgreSQL both are one database. Every table of the store is moved but `gauges`, which tells of processes that run
now; of the queue's those that hold deliveries, with the ids of those that are done, against redeliveries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from bot.errors import UserError
from bot.jobs.queue.database import SCHEMA, executors, prepare, queue_engine
from bot.jobs.recovery.executors import DEAD_AFTER, ages
from bot.settings import Settings
from bot.store.database.engine import make_engine, shown
from bot.store.database.files import sqlite_file
from bot.store.database.migrate import has_schema, is_current, is_later, migrate
from bot.store.tables import schema

_LEFT_OUT = {"gauges"}
_OF_QUEUE = ("workflow_status", "workflow_input", "workflow_output")
# DBOS keeps JSON as text on SQLite and as a type of its own on PostgreSQL.
_JSON = {"attributes"}


@dataclass(frozen=True, slots=True)
class Place:
    """One host's store and queue. `name` has no password in it."""

    name: str
    store: sa.Engine
    queue: sa.Engine

    @property
    def fingerprint(self) -> str:
        """Says whether two places are the same, however the path of a file is written."""
        file = sqlite_file(self.store.url)
        return hashlib.sha256((str(file.resolve()) if file else self.name).encode()).hexdigest()

    def engine(self, table: sa.Table) -> sa.Engine:
        """Where a table is."""
        return self.queue if table.name in _OF_QUEUE else self.store

    def tables(self) -> list[sa.Table]:
        """What is moved, as this place has it; a queue that was never used has nothing."""
        return [*_of_store(), *(self._of_queue(name) for name in _OF_QUEUE if self._has(name))]

    def prepare(self) -> None:
        """Make the tables of this version where they are not there."""
        migrate(self.store)
        prepare(self.queue)

    @contextmanager
    def kept_as_it_is(self) -> Iterator[dict[sa.Engine, sa.Connection]]:
        """Connections on which nothing changes, and nobody else can write, as long as the block lasts.

        Raises UserError where nothing is stored, its schema is of another version, or somebody works with it.
        """
        self.refuse_nothing()
        if is_later(self.store):
            # It may hold what this version does not know of, and would leave behind.
            raise UserError(f"{self.name} has the schema of a later version; move it with that version's command")
        if not is_current(self.store):
            raise UserError(f"{self.name} has the schema of an earlier version; run `doppel migrate` on it first")
        with ExitStack() as stack:
            connections = {one: stack.enter_context(one.connect()) for one in self.engines()}
            # Rolled back at the end by closing: nothing is written here.
            for engine, connection in connections.items():
                tables = [table for table in self.tables() if self.engine(table) is engine]
                self._lock(connection, tables)
            if self.queue in connections and sa.inspect(self.queue).has_table(executors.name):
                self._refuse_workers(connections[self.queue])
            yield connections

    def refuse_nothing(self) -> None:
        """Raise UserError where there is no store: a slip in its address would else end in nothing moved."""
        if self.store not in self.engines():
            raise UserError(f"{self.name}: there is no such file")
        if not has_schema(self.store):
            raise UserError(f"{self.name} holds nothing of Doppel's; is that the right database?")

    def reach(self) -> None:
        """Connect once to what is there: SQLAlchemy's errors do not say which of two places they are of."""
        for engine in self.engines():
            engine.connect().close()

    def engines(self) -> list[sa.Engine]:
        """Those of its databases that can be asked: to ask for a file of SQLite's that is not there would make it."""
        return [one for one in dict.fromkeys((self.store, self.queue)) if _is_there(one)]

    def close(self) -> None:
        """Close the connections."""
        self.store.dispose()
        self.queue.dispose()

    def _lock(self, connection: sa.Connection, tables: list[sa.Table]) -> None:
        try:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            # The queue's waits while all of the store is copied and compared, which can take longer than the minute
            # after which a connection that does nothing is ended (`make_engine`).
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            if tables:
                names = ", ".join(
                    f'"{table.schema}"."{table.name}"' if table.schema else table.name for table in tables
                )
                connection.execute(sa.text(f"LOCK TABLE {names} IN SHARE MODE"))
        except sa.exc.OperationalError:
            raise UserError(f"{self.name} is in use; stop the bot first") from None

    def _refuse_workers(self, connection: sa.Connection) -> None:
        if any(age < DEAD_AFTER for age in ages(self.queue, connection)):
            raise UserError(
                f"a worker runs on {self.name}, or was killed in the last {DEAD_AFTER:.0f} s; stop web and worker first"
            )

    def _has(self, name: str) -> bool:
        return _is_there(self.queue) and sa.inspect(self.queue).has_table(name, schema=self._schema)

    def _of_queue(self, name: str) -> sa.Table:
        table = sa.Table(name, sa.MetaData(), autoload_with=self.queue, schema=self._schema)
        for column in table.columns:
            if column.name in _JSON:
                column.type = sa.JSON(none_as_null=True)
        return table

    @property
    def _schema(self) -> str | None:
        return None if self.queue.dialect.name == "sqlite" else SCHEMA


def place(settings: Settings) -> Place:
    """The place that settings name; connects on first use."""
    engine = make_engine(settings.database_url, synchronous=settings.sqlite_synchronous)
    return Place(shown(settings.database_url), engine, queue_engine(settings))


def _is_there(engine: sa.Engine) -> bool:
    file = sqlite_file(engine.url)
    return file is None or file.is_file()


def _of_store() -> list[sa.Table]:
    return [table for table in schema.metadata.sorted_tables if table.name not in _LEFT_OUT]
