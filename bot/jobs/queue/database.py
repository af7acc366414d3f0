"""The queue's database: where it is, its engine, its schema, and the few of its columns that we touch ourselves.

On SQLite the queue has a file of its own beside the store's, because the one writer that SQLite allows would otherwise
be shared by both. On PostgreSQL it is the same database, where DBOS keeps its tables in the schema `dbos`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer
from dbos import error as dbos_error
from dbos._serialization import serialize_exception

from bot.events import BACKGROUND, REPLAY
from bot.jobs.queue.job import QueueUnavailable
from bot.settings import Settings
from bot.store.database.engine import PATIENCE, make_engine, write
from bot.store.database.failures import is_locked, why
from bot.store.database.files import sqlite_file
from bot.store.database.migrate import alone, waiting

APPLICATION = "doppel"
# DBOS lets a worker take only workflows of its own version. Queued work must outlive an upgrade, so there is one
# version for ever; what a queued event looks like is kept compatible by `bot.events`.
VERSION = "1"
QUEUE = "events"
# Work that nobody waits for. It is done one piece at a time beside the other queue, so that it keeps nobody waiting.
BACKGROUND_QUEUE = "background"
# What of that is a process's work for hours. It waits for its like alone, and no index for it.
REPLAY_QUEUE = "replays"

# DBOS's words for a workflow that raised, and for one that was started again too often without an end.
GIVEN_UP = ["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]

# The attribute of a workflow that says what it is about.
PARTITION = "partition"

SCHEMA = "dbos"
# What a database can raise, beside what the system says of a file.
_FAILURES = (sa.exc.SQLAlchemyError, dbos_error.DBOSException)
# Any two constants will do, as long as nothing else in the database locks the same numbers.
_LOCK, _TURN = 7_205_759_404, 7_205_759_405
# Seconds for which others that start may be looking at the schema; a delivery must be answered soon after.
_PATIENCE = 3.0

_own = sa.MetaData()

executors = sa.Table(
    "queue_executors",
    _own,
    sa.Column("executor_id", sa.Text(), primary_key=True),
    sa.Column("host", sa.Text(), nullable=False),
    sa.Column("pid", sa.BigInteger(), nullable=False),
    sa.Column("beat_at", sa.Float(53), nullable=False),
)

trials = sa.Table(
    "queue_trials",
    _own,
    sa.Column("workflow_id", sa.Text(), primary_key=True),
    sa.Column("begun", sa.BigInteger(), nullable=False),
)


def queue_url(settings: Settings) -> str:
    """The SQLAlchemy URL of the queue: `doppel-queue.db` beside `doppel.db`, or PostgreSQL itself."""
    path = sqlite_file(settings.database_url)
    if path is None:
        return settings.database_url
    url = sa.make_url(settings.database_url)
    return url.set(database=str(path.with_name(f"{path.stem}-queue{path.suffix}"))).render_as_string(False)


def queue_engine(settings: Settings, *, patience: float = PATIENCE, pool_size: int = 8) -> sa.Engine:
    """An engine for the queue; connects on first use."""
    return make_engine(
        queue_url(settings),
        patience=patience,
        synchronous=settings.sqlite_synchronous,
        pool_size=pool_size,
        connect_timeout=max(1, min(5, int(patience))),
    )


def queue_client(engine: sa.Engine) -> DBOSClient:
    """DBOS's client on our engine: it neither creates tables nor retries a lost connection for ever."""
    quiet_dbos()
    return DBOSClient(
        system_database_engine=engine,
        dbos_system_schema=SCHEMA,
        serializer=DBOSPortableJSONSerializer(),
        application_name=APPLICATION,
        lazy=True,
        retry_connection_errors=False,
    )


def quiet_dbos() -> None:
    """Let DBOS speak only of problems, through our handlers; it installs one of its own where it finds none."""
    logger = logging.getLogger("dbos")
    logger.setLevel(logging.WARNING)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def workflow_table(engine: sa.Engine) -> sa.TableClause:
    """DBOS's `workflow_status`, as far as we read or write it ourselves. Times are milliseconds since 1970."""
    names = (
        "workflow_uuid",
        "name",
        "status",
        "queue_name",
        "queue_partition_key",
        "attributes",
        "executor_id",
        "owner_xid",
        "started_at_epoch_ms",
        "recovery_attempts",
        "priority",
        "created_at",
        "updated_at",
        "completed_at",
        "delay_until_epoch_ms",
    )
    return sa.table("workflow_status", *map(sa.column, names), schema=_schema(engine))


def input_table(engine: sa.Engine) -> sa.TableClause:
    """DBOS's `workflow_input`: what the workflows were given."""
    names = ("workflow_uuid", "inputs", "retention_timestamp")
    return sa.table("workflow_input", *map(sa.column, names), schema=_schema(engine))


def has_status(word: str) -> sa.TextClause:
    """Whether a workflow has this status of DBOS's; written out, since SQLite uses its partial index only for that."""
    return sa.text(f"status = '{word}'")


def queue_for(partition: str) -> str:
    """The queue that work of this partition goes into (`bot.events`)."""
    if partition.startswith(REPLAY):
        return REPLAY_QUEUE
    return BACKGROUND_QUEUE if partition.startswith(BACKGROUND) else QUEUE


def partition_of(workflows: sa.TableClause) -> sa.ColumnElement[str]:
    """What a job is about (`bot.events`). Earlier versions, which had no lanes, kept it as DBOS's partition."""
    kept = sa.type_coerce(workflows.c.attributes, sa.JSON())[PARTITION].as_string()
    return sa.func.coalesce(kept, workflows.c.queue_partition_key)


def belongs_to(workflows: sa.TableClause, repository_id: int) -> sa.ColumnElement[bool]:
    """Whether a workflow is about a repository or one of its issues: its partition says so (`bot.events`)."""
    partition = partition_of(workflows)
    whole = [f"repository:{repository_id}", f"{BACKGROUND}{repository_id}", f"{REPLAY}{repository_id}"]
    return sa.or_(partition.in_(whole), partition.like(f"{repository_id}#%"))


def end_as_dead(client: DBOSClient, workflow_id: str, error: Exception) -> None:
    """End a workflow from outside as if it had raised; nothing happens if it has ended. DBOS has no public way to."""
    text, _ = serialize_exception(error, DBOSPortableJSONSerializer().name(), DBOSPortableJSONSerializer())
    client._sys_db.update_workflow_outcome(workflow_id, "ERROR", error=text)


def give_back(engine: sa.Engine, workflow_id: str, executor_id: str, owner: str | None) -> bool:
    """Let a workflow wait for its turn again; nothing happens if it has ended, or was taken by another claim since.

    Whether it does. DBOS gives back by the executor alone, which may have taken it twice.
    """
    table = workflow_table(engine)
    claim = (table.c.workflow_uuid == workflow_id, table.c.executor_id == executor_id, table.c.owner_xid == owner)
    with engine.begin() as connection:
        given = connection.execute(
            sa.update(table)
            .where(*claim, table.c.status == "PENDING")
            .values(status="ENQUEUED", owner_xid=None, started_at_epoch_ms=None, updated_at=int(time.time() * 1000))
        )
    return given.rowcount > 0


def ensure_schema(settings: Settings) -> None:
    """Create or upgrade the queue's tables; quick when all is there. Waits for others as long as they take.

    Raises QueueUnavailable where its database fails.
    """
    engine = queue_engine(settings, pool_size=4)
    tell_and_wait = waiting("the queue")
    try:
        while True:
            try:
                prepare(engine, patience=None)
                return
            except _FAILURES as refused:
                if not is_locked(refused):
                    raise _unavailable(refused) from refused
            tell_and_wait()
    finally:
        engine.dispose()


def prepare(engine: sa.Engine, *, patience: float | None = _PATIENCE) -> None:
    """The same on an engine that there already is. Raises TimeoutError or OperationalError where others take long.

    DBOS's client never does this, so the web process calls it as well as the worker.
    """
    client = queue_client(engine)
    # DBOS serialises concurrent migrations itself by SQLite's write lock. On PostgreSQL it waits for thirty seconds,
    # and then upgrades beside the other.
    with alone(engine, _TURN, "the queue", patience):
        client._sys_db.run_migrations()
    there = sa.inspect(engine)
    if all(there.has_table(table.name) for table in _own.sorted_tables):
        return
    with write(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        _own.create_all(connection)


@contextmanager
def named_failures() -> Iterator[None]:
    """Turn whatever a database can raise into QueueUnavailable."""
    try:
        yield
    except (*_FAILURES, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> QueueUnavailable:
    return QueueUnavailable(f"the queue's database failed: {why(error)}")


def _schema(engine: sa.Engine) -> str | None:
    return None if engine.dialect.name == "sqlite" else SCHEMA
