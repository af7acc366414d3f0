"""The queue's database: its address, its one table, and the error for its failures.

On SQLite the queue has its own file beside the store's, because SQLite allows one writer at a time. On PostgreSQL the
queue is a table in the store's database.
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
from bot.storage.engine import PATIENCE, lock, make_engine, write
from bot.storage.failures import is_locked, why
from bot.storage.migrate import waiting
from bot.storage.replaced import sqlite_file

# The queues: deliveries, whose outcome somebody awaits; background work on repositories; evaluations, which take hours.
QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE = "events", "background", "replays"
# SCHEDULE has a row for each scheduled task, WORKERS a row with a lease for each live worker. Neither holds events.
SCHEDULE, WORKERS = "schedule", "workers"

# The `last_error` of a job that killed its workers.
DIED = "its worker died each time it was tried"

# The number of PostgreSQL's advisory lock for the schema.
_LOCK = 7_205_759_405


class QueueUnavailable(Retryable):
    """The queue's database failed, or did not answer in time; nothing has been accepted."""


metadata = sa.MetaData()

# `number` is the order of arrival. Jobs of one `partition` run one at a time, in that order. `state` is waiting,
# running, done or dead. `attempts` counts raised errors. `crashes` counts how often the job's worker has died since the
# last error; a job with two or more crashes is suspect. The job does not run before `run_after`. Its worker has the
# lease until `lease_until`. Times come from the database's clock, in seconds since 1970. The row of a finished job
# stays for a week, without its payload, so that a redelivery changes nothing.
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
    """A condition for jobs in these states, spelled as in the partial indexes: otherwise SQLite would not use them."""
    listed: list[sa.ColumnElement[str]] = [sa.literal_column(f"'{name}'") for name in names]
    return jobs.c.state == listed[0] if len(listed) == 1 else jobs.c.state.in_(listed)


def _index(name: str, *columns: str, where: sa.ColumnElement[bool] | sa.TextClause, unique: bool = False) -> None:
    sa.Index(name, *(jobs.c[column] for column in columns), unique=unique, sqlite_where=where, postgresql_where=where)


_index("jobs_waiting", "queue", "repository", "number", where=sa.text("state = 'waiting' AND crashes < 2"))
_index("jobs_suspect", "queue", "repository", "number", where=sa.text("state = 'waiting' AND crashes >= 2"))
_index("jobs_unfinished", "partition", "number", where=state("waiting", "running"))
# This unique index keeps two workers from running jobs of one partition at once.
_index("jobs_running", "partition", where=state("running"), unique=True)
_index("jobs_served", "repository", "started_at", where=jobs.c.started_at.is_not(None))
_index("jobs_ended", "done_at", where=state("done", "dead"))


def queue_of(partition: str) -> str:
    """The queue for the work of a partition (`bot.deliveries.events`)."""
    if partition.startswith(REPLAY):
        return REPLAY_QUEUE
    return BACKGROUND_QUEUE if partition.startswith(BACKGROUND) else QUEUE


def queue_url(settings: Settings) -> str:
    """The SQLAlchemy URL of the queue: `doppel-queue.db` beside `doppel.db`, or the store's own on PostgreSQL."""
    path = sqlite_file(settings.database_url)
    if path is None:
        return settings.database_url
    url = sa.make_url(settings.database_url).set(database=str(path.with_name(f"{path.stem}-queue{path.suffix}")))
    return url.render_as_string(hide_password=False)


def queue_engine(settings: Settings, *, patience: float = PATIENCE, pool_size: int = 8) -> sa.Engine:
    """An engine for the queue; connects on first use. `patience`: seconds to wait for a lock."""
    return make_engine(
        queue_url(settings),
        patience=patience,
        synchronous=settings.sqlite_synchronous,
        pool_size=pool_size,
        connect_timeout=max(1, min(5, int(patience))),
    )


def ensure_schema(settings: Settings) -> None:
    """Create the queue's table if it is missing; waits if another process holds the lock. Raises QueueUnavailable."""
    engine = queue_engine(settings, pool_size=4)
    pause = waiting("the queue")  # A function, to call after each failed try.
    try:
        while True:
            try:
                with named_failures():
                    return prepare(engine)
            except QueueUnavailable as problem:
                if not is_locked(problem.__cause__):
                    raise
            pause()
    finally:
        engine.dispose()


def prepare(engine: sa.Engine) -> None:
    """Create the queue's table if it is missing.

    Raises OperationalError if another process holds the lock for longer than the engine's patience.
    """
    if sa.inspect(engine).has_table(jobs.name):
        return
    with write(engine) as connection:
        lock(connection, _LOCK)
        metadata.create_all(connection)
        carry_over(connection)


@contextmanager
def named_failures() -> Iterator[None]:
    """Turn all errors of the database into QueueUnavailable, which names the queue and the cause."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        raise QueueUnavailable(f"the queue's database failed: {why(error)}; see `doppel doctor`") from error


def read_jobs(engine: sa.Engine, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
    """The rows of a query. Raises QueueUnavailable."""
    with named_failures():
        prepare(engine)
        with engine.connect() as connection:
            return connection.execute(query).all()


# States of a workflow in DBOS, the library that ran the queue in earlier versions; every other state counts as done.
_STATES = dict.fromkeys(("ENQUEUED", "DELAYED", "PENDING"), "waiting")
_STATES |= dict.fromkeys(("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"), "dead")


def carry_over(connection: sa.Connection) -> None:
    """Move the jobs of an earlier version from DBOS's tables into `jobs`, then drop those tables.

    Runs in the caller's transaction. Of finished jobs only the ids stay, so that a redelivery changes nothing.
    """
    schema = None if connection.dialect.name == "sqlite" else "dbos"
    if not sa.inspect(connection).has_table("workflow_status", schema=schema):
        return
    old = sa.MetaData()
    status, inputs, output = (
        sa.Table(f"workflow_{name}", old, autoload_with=connection, schema=schema)
        for name in ("status", "input", "output")
    )
    rows = connection.execute(
        sa.select(status, inputs.c.inputs.label("arguments"), output.c.error.label("reason"))
        .outerjoin_from(status, inputs, status.c.workflow_uuid == inputs.c.workflow_uuid)
        .outerjoin(output, status.c.workflow_uuid == output.c.workflow_uuid)
        .where(status.c.name == "job")
        .order_by(status.c.created_at)
    )
    # DBOS stored each retry of a delivery as a workflow of its own, `ID~2` and so on. The last one has the job's state.
    latest = dict[str, tuple[int, Any]]()
    for row in rows:
        delivery, _, number = row.workflow_uuid.partition("~")
        if int(number or 1) > latest.get(delivery, (0, row))[0]:
            latest[delivery] = int(number or 1), row
    if latest:
        connection.execute(sa.insert(jobs), [_job(delivery, row) for delivery, (_, row) in latest.items()])
    if schema:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    for name in sa.inspect(connection).get_table_names():
        # The bot made the two named tables. On SQLite, all other tables in the queue's file but `jobs` are DBOS's.
        if name in ("queue_executors", "queue_trials") or (schema is None and name != jobs.name):
            connection.exec_driver_sql(f'DROP TABLE "{name}"')


def _job(delivery: str, row: Any) -> dict[str, Any]:
    """The row for `jobs` from a workflow's row; `done` if the workflow's input cannot be read."""
    try:
        _, _, failures, _, partition, text = json.loads(row.arguments)["positionalArgs"]
        job_state, event = _STATES.get(row.status, "done"), from_json(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        failures, partition, text, event, job_state = 0, delivery, "", None, "done"
    try:
        reason = str(json.loads(row.reason)["message"]) if row.reason else DIED
    except (ValueError, LookupError, TypeError):
        reason = ""
    return {
        "id": delivery,
        "queue": queue_of(partition),
        "installation": 0 if event is None else event.installation or 0,
        "repository": 0 if event is None or isinstance(event, InstallationEvent) else event.repository.id,
        "partition": partition,
        "payload": "" if job_state == "done" else text,
        "state": job_state,
        # `failures` counts the failed runs before this workflow's run.
        "attempts": failures + (job_state == "dead"),
        "run_after": (row.delay_until_epoch_ms or row.created_at) / 1000,
        "arrived_at": row.created_at / 1000,
        "last_error": reason if job_state == "dead" else "",
        "done_at": None if job_state == "waiting" else (row.completed_at or row.created_at) / 1000,
    }
