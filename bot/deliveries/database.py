"""The queue's database: its address, its one table, and the error for its failures.

On SQLite the queue has a file of its own beside the store's, because SQLite allows one writer at a time. On PostgreSQL
it is a table beside the store's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from bot.deliveries.events import BACKGROUND, REPLAY, InstallationEvent, from_json
from bot.domain.errors import Retryable
from bot.platform.settings import Settings
from bot.storage.engine import PATIENCE, make_engine, write
from bot.storage.failures import is_locked, why
from bot.storage.migrate import alone, waiting
from bot.storage.replaced import sqlite_file

# Deliveries, whose outcome somebody waits for; background work on repositories; and evaluations, which take hours.
QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE = "events", "background", "replays"
# Scheduled tasks, with a row for each; and the workers that live, with a row and a lease for each.
SCHEDULE, WORKERS = "schedule", "workers"

# The last error of a job that killed its workers.
DIED = "its worker died each time it was tried"

# The number of an advisory lock, and seconds to wait for another process that prepares the schema.
_LOCK, _PATIENCE = 7_205_759_405, 3.0


class QueueUnavailable(Retryable):
    """The queue's database did not answer within its bound; nothing has been accepted."""


metadata = sa.MetaData()

# `number` is the order of arrival. `state` is waiting, running, done or dead. `attempts` counts the runs that raised,
# `crashes` those whose worker died. Times are the database's, in seconds since 1970. The id of a job that is done stays
# for a week, without its payload, so that a redelivery changes nothing.
jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
    sa.Column("id", sa.Text(), nullable=False, unique=True),
    sa.Column("queue", sa.Text(), nullable=False),
    sa.Column("installation", sa.BigInteger(), nullable=False),
    sa.Column("repository", sa.BigInteger(), nullable=False),
    sa.Column("partition", sa.Text(), nullable=False),
    sa.Column("payload", sa.Text(), nullable=False, server_default=""),
    sa.Column("state", sa.Text(), nullable=False, server_default="waiting"),
    sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("crashes", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("run_after", sa.Float(53), nullable=False),
    sa.Column("arrived_at", sa.Float(53), nullable=False),
    sa.Column("started_at", sa.Float(53)),
    sa.Column("lease_token", sa.Text()),
    sa.Column("lease_until", sa.Float(53)),
    sa.Column("last_error", sa.Text(), nullable=False, server_default=""),
    sa.Column("done_at", sa.Float(53)),
)


def state(*names: str) -> sa.ColumnElement[bool]:
    """Whether a job is in one of these states, spelled as in the partial indexes, or SQLite would not use them."""
    listed: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{name}'") for name in names]
    return jobs.c.state == listed[0] if len(listed) == 1 else jobs.c.state.in_(listed)


def _index(name: str, *columns: str, where: sa.ColumnElement[bool] | sa.TextClause, unique: bool = False) -> None:
    sa.Index(name, *(jobs.c[column] for column in columns), unique=unique, sqlite_where=where, postgresql_where=where)


_index("jobs_waiting", "queue", "repository", "number", where=sa.text("state = 'waiting' AND crashes < 2"))
_index("jobs_suspect", "queue", "repository", "number", where=sa.text("state = 'waiting' AND crashes >= 2"))
_index("jobs_unfinished", "partition", "number", where=state("waiting", "running"))
# This keeps two workers from running jobs of one partition at once.
_index("jobs_running", "partition", where=state("running"), unique=True)
_index("jobs_served", "repository", "started_at", where=jobs.c.started_at.is_not(None))
_index("jobs_ended", "done_at", where=state("done", "dead"))


def queue_of(partition: str) -> str:
    """The queue for the work of a partition (`bot.events`)."""
    if partition.startswith(REPLAY):
        return REPLAY_QUEUE
    return BACKGROUND_QUEUE if partition.startswith(BACKGROUND) else QUEUE


def queue_url(settings: Settings) -> str:
    """The SQLAlchemy URL of the queue: `doppel-queue.db` beside `doppel.db`, or PostgreSQL itself."""
    path = sqlite_file(settings.database_url)
    if path is None:
        return settings.database_url
    url = sa.make_url(settings.database_url)
    return url.set(database=str(path.with_name(f"{path.stem}-queue{path.suffix}"))).render_as_string(False)


def queue_engine(settings: Settings, *, patience: float = PATIENCE, pool_size: int = 8) -> sa.Engine:
    """An engine for the queue; connects on first use. `patience` is in seconds."""
    return make_engine(
        queue_url(settings),
        patience=patience,
        synchronous=settings.sqlite_synchronous,
        pool_size=pool_size,
        connect_timeout=max(1, min(5, int(patience))),
    )


def ensure_schema(settings: Settings) -> None:
    """Create the queue's table if it is missing, and wait for others without end. Raises QueueUnavailable."""
    engine, wait = queue_engine(settings, pool_size=4), waiting("the queue")
    try:
        while True:
            try:
                with named_failures():
                    return prepare(engine, patience=None)
            except QueueUnavailable as refused:
                if not is_locked(refused.__cause__):
                    raise
            wait()
    finally:
        engine.dispose()


def prepare(engine: sa.Engine, *, patience: float | None = _PATIENCE) -> None:
    """Create the queue's table if it is missing. Raises TimeoutError or OperationalError if others take longer."""
    if sa.inspect(engine).has_table(jobs.name):
        return
    with alone(engine, _LOCK, "the queue", patience), write(engine) as connection:
        metadata.create_all(connection)
        carry_over(connection)


@contextmanager
def named_failures() -> Iterator[None]:
    """Turn all errors of the database into QueueUnavailable."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        raise QueueUnavailable(f"the queue's database failed: {why(error)}") from error


def read_jobs(engine: sa.Engine, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
    """The rows of a query. Raises QueueUnavailable."""
    with named_failures():
        prepare(engine)
        with engine.connect() as connection:
            return connection.execute(query).all()


# DBOS's states of workflows; all others are done.
_WAITING, _DEAD = ("ENQUEUED", "DELAYED", "PENDING"), ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


def carry_over(connection: sa.Connection) -> None:
    """Move what waits or was given up in DBOS's tables into `jobs`, and drop these, in the caller's transaction.

    It keeps the ids of what is done, so that a redelivery changes nothing.
    """
    schema = None if connection.dialect.name == "sqlite" else "dbos"
    if not sa.inspect(connection).has_table("workflow_status", schema=schema):
        return
    old = sa.MetaData()
    run, given, output = (
        sa.Table(f"workflow_{name}", old, autoload_with=connection, schema=schema)
        for name in ("status", "input", "output")
    )
    rows = connection.execute(
        sa.select(run, given.c.inputs.label("given"), output.c.error.label("reason"))
        .outerjoin_from(run, given, run.c.workflow_uuid == given.c.workflow_uuid)
        .outerjoin(output, run.c.workflow_uuid == output.c.workflow_uuid)
        .where(run.c.name == "job")
        .order_by(run.c.created_at)
    )
    # A delivery's later runs are workflows of their own, `ID~2` and so on; the last one has its state.
    latest = dict[str, tuple[int, Any]]()
    for row in rows:
        delivery, _, number = row.workflow_uuid.partition("~")
        latest[delivery] = max(latest.get(delivery, (0, row)), (int(number or 1), row), key=lambda one: one[0])
    if latest:
        connection.execute(sa.insert(jobs), [_job(delivery, row) for delivery, (_, row) in latest.items()])
    if schema:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    for name in sa.inspect(connection).get_table_names():
        # The first two were tables of ours beside DBOS's.
        if name in ("queue_executors", "queue_trials") or (schema is None and name != jobs.name):
            connection.exec_driver_sql(f'DROP TABLE "{name}"')


def _job(delivery: str, row: Any) -> dict[str, Any]:
    """A row of `jobs`; done where nobody can read it."""
    try:
        _, _, failures, _, partition, text = json.loads(row.given)["positionalArgs"]
        state = "waiting" if row.status in _WAITING else "dead" if row.status in _DEAD else "done"
        event = from_json(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        failures, partition, text, event, state = 0, delivery, "", None, "done"
    try:
        reason = str(json.loads(row.reason)["message"]) if row.reason else DIED
    except (ValueError, LookupError, TypeError):
        reason = ""
    return {
        "id": delivery,
        "queue": queue_of(partition),
        "installation": (event and event.installation) or 0,
        "repository": 0 if event is None or isinstance(event, InstallationEvent) else event.repository.id,
        "partition": partition,
        "payload": "" if state == "done" else text,
        "state": state,
        "attempts": failures + (state == "dead"),
        "run_after": (row.delay_until_epoch_ms or row.created_at) / 1000,
        "arrived_at": row.created_at / 1000,
        "last_error": reason if state == "dead" else "",
        "done_at": None if state == "waiting" else (row.completed_at or row.created_at) / 1000,
    }
