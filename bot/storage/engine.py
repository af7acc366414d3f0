"""Database engines that behave alike on SQLite and PostgreSQL: bounded waits, real transactions, many processes.

SQLite runs in WAL mode, where readers and the one writer do not block each other. `write` takes the write lock when its
transaction begins, so that nothing changes between a read and the write that depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.storage.sqlite import sqlite_engine, take_write_lock, write_slot

# Seconds to wait for a lock or a connection. Callers that must answer sooner pass less.
PATIENCE = 30.0

# Each secret parameter of libpq has one of these words in its name: `password`, `sslpassword`, `oauth_client_secret`
# ("Parameter Key Words" in PostgreSQL's manual).
_SECRETS = ("password", "secret")

# PostgreSQL's code for "read only SQL transaction".
_READ_ONLY = "25006"


def redacted(url: str) -> str:
    """A database's address for messages, without its secrets."""
    parts = sa.make_url(url)
    hidden = {name: "***" for name in parts.query if any(word in name.lower() for word in _SECRETS)}
    return parts.update_query_dict(hidden).render_as_string(hide_password=True)


def make_engine(
    url: str, *, patience: float = PATIENCE, synchronous: str = "NORMAL", pool_size: int = 8, connect_timeout: int = 5
) -> sa.Engine:
    """An engine for a `sqlite:///PATH` or `postgresql+psycopg://` URL; connects on first use.

    Waits `patience` seconds for a lock or a connection. `synchronous` is SQLite's: NORMAL survives every crash of a
    process, and FULL also survives a power failure.
    """
    if url.startswith("sqlite"):
        return sqlite_engine(url, patience, synchronous, pool_size)
    patience_ms = int(patience * 1000)
    engine = sa.create_engine(
        url,
        # Parameters may be people's words, which must not appear in an error's message.
        hide_parameters=True,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=patience,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": connect_timeout,
            # Without this limit, a statement would wait long for a server that has vanished from the network.
            "tcp_user_timeout": patience_ms,
            # `idle_in_transaction_session_timeout` ends the transaction of a suspended process.
            "options": f"-c lock_timeout={patience_ms} -c idle_in_transaction_session_timeout=60000",
        },
    )
    sa.event.listen(engine, "handle_error", _mark_as_lost)
    return engine


def _mark_as_lost(context: sa.engine.ExceptionContext) -> None:
    """Count a connection as lost if it cannot be opened or is read-only. Then only a new connection can write."""
    if context.connection is None or getattr(context.original_exception, "sqlstate", "") == _READ_ONLY:
        context.is_disconnect = True


@contextmanager
def write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that may write; on SQLite it holds the write lock from its beginning on."""
    if engine.dialect.name != "sqlite":
        with engine.begin() as connection:
            yield connection
        return
    # While one thread holds the slot, other threads wait for the slot instead of polling for the write lock.
    with write_slot(engine), engine.begin() as connection:
        take_write_lock(connection)
        yield connection


def lock(connection: sa.Connection, name: str | int) -> None:
    """On PostgreSQL, wait for the lock `name`, and hold it until the transaction ends. SQLite has only one writer."""
    if connection.dialect.name == "postgresql":
        number = sa.func.hashtextextended(name, 0) if isinstance(name, str) else name
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))


def database_time(engine: sa.Engine) -> sa.ColumnElement[float]:
    """The database's time in seconds since 1970. It is the same for all machines, whose own clocks can differ."""
    if engine.dialect.name == "sqlite":
        return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Float())
    return sa.literal_column("extract(epoch from clock_timestamp())::double precision", sa.Float())


def with_key(table: sa.Table, *columns: str) -> sa.ColumnElement[bool]:
    """The condition that each column equals the parameter of the same name. Each execution passes the values.

    So a frequent statement is built only once: building takes three times as long as SQLite needs to answer.
    """
    return sa.and_(*(table.c[name] == sa.bindparam(name) for name in columns))


class TableGateway:
    """The base class of the store's parts (Fowler's Table Data Gateway). Thread safe: each call takes a connection."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _all(self, query: sa.Select[Any], **values: Any) -> Sequence[Any]:
        with self._engine.connect() as connection:
            return connection.execute(query, values).all()

    def _first(self, query: sa.Select[Any], **values: Any) -> Any | None:
        with self._engine.connect() as connection:
            return connection.execute(query, values).first()

    def _scalar(self, query: sa.Select[Any], **values: Any) -> Any | None:
        with self._engine.connect() as connection:
            return connection.execute(query, values).scalar()

    def _change(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        """Run one statement; returns how many rows it changed. For an INSERT, drivers report this number unreliably."""
        with write(self._engine) as connection:
            return connection.execute(statement).rowcount

    def _write(self, insert: Any) -> bool:
        """Run an INSERT or upsert; returns whether it wrote a row."""
        with write(self._engine) as connection:
            return connection.execute(insert.returning(sa.literal_column("1"))).first() is not None

    def _insert(self, table: sa.Table) -> Any:
        """An INSERT that can have ON CONFLICT; SQLAlchemy has a separate class for each database."""
        return sqlite.insert(table) if self._engine.dialect.name == "sqlite" else postgresql.insert(table)

    def _upsert(
        self,
        table: sa.Table,
        key: Mapping[str, Any],
        values: Mapping[str, Any],
        where: sa.ColumnElement[bool] | None = None,
    ) -> Any:
        """An INSERT of a row. If a row with this key exists, updates that row instead, but only if `where` holds."""
        insert = self._insert(table).values(**key, **values)
        return insert.on_conflict_do_update(index_elements=list(key), set_=values, where=where)
