"""The way into the queue, for the web process and whoever else has work to hand over.

Why edits are delayed and not debounced by DBOS: its debouncer refuses partition keys, and without them the work of one
issue would lose its order. It would also hold only the last of several edits, while each delivery must stay known by
its id. So an edit waits a few seconds (`debounce`), every edit in that time waits as well, the first job to run answers
the text as it then is, and the others find it answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from bot.events import Event, IssueEvent, to_json
from bot.jobs.fairness.lanes import lane_of
from bot.jobs.queue.cleanup import erase
from bot.jobs.queue.database import SCHEMA, named_failures, prepare, queue_client, queue_engine, workflow_table
from bot.jobs.queue.enqueue import Entry, enqueue, insert
from bot.jobs.queue.job import Message, QueueUnavailable
from bot.jobs.queue.shared_commit import SharedCommit
from bot.settings import Settings
from bot.store.database.engine import write
from bot.store.database.sqlite import is_full

# GitHub gives a webhook ten seconds in all. Connecting and waiting for a lock can each take this long.
PATIENCE = 3.0

# Deliveries that a process of gunicorn's commits at a time; its other threads wait.
_CONNECTIONS = 8


def debounce(event: Event, seconds: float) -> float:
    """How long a delivery waits in the queue: an edit of an issue is often followed by the next one."""
    return seconds if isinstance(event, IssueEvent) and event.action == "edited" else 0.0


class Inbox:
    """A process's handle on the queue. Safe to share between threads."""

    def __init__(self, settings: Settings, *, patience: float = PATIENCE) -> None:
        """Does not connect: a process can start while its database is away, and says 503 until it is back."""
        self._engine = queue_engine(settings, patience=patience, pool_size=_CONNECTIONS + 2)
        self._client = queue_client(self._engine)
        self._any = sa.select(workflow_table(self._engine).c.workflow_uuid).limit(1)
        # A standby, a server that takes no writes for want of disk, and one where the right was taken from who has used
        # up their plan.
        self._refuses = sa.text(
            "SELECT current_setting('transaction_read_only') = 'on' "
            f"OR NOT has_table_privilege('{SCHEMA}.{workflow_table(self._engine).name}', 'INSERT')"
        )
        self._prepared = False
        self._preparing = threading.BoundedSemaphore()
        # On PostgreSQL threads line up for a connection, and the server makes one commit of several. SQLite has one
        # writer, so there one thread writes for all that wait.
        self._turn = threading.BoundedSemaphore(_CONNECTIONS)
        self._patience = patience
        shared = SharedCommit(self._write, patience)
        self._commit: Callable[[Entry], bool] = (
            shared.put
            if self._engine.dialect.name == "sqlite"
            else lambda entry: enqueue(self._client, self._engine, *entry)
        )

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Commit a delivery to the queue. True if it is new, False if this delivery id is known.

        Raises QueueUnavailable, within a few seconds, when the database cannot take it; nothing is kept then.
        """
        # JSON may hold half of a surrogate pair, which no database can store.
        text = to_json(event).encode("utf-8", "replace").decode("utf-8")
        message = Message(delivery_id, 1, 0, time.time_ns() // 1_000_000, event.partition, text, lane_of(event))
        with self._ready():
            return self._commit((message, delay_seconds))

    def check(self) -> None:
        """Raise QueueUnavailable if the queue could not take a delivery now: its tables are there and writable."""
        with self._ready(), self._engine.connect() as connection:
            # They are not where the file was taken away while this process ran.
            connection.execute(self._any)
            if connection.dialect.name == "sqlite":
                # The lock can be had on a full disk as well, and to write something would wear the disk at each look.
                if is_full(self._engine):
                    raise QueueUnavailable("the disk of the queue's database is full")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.rollback()
            elif connection.execute(self._refuses).scalar_one():
                # One that was made in that time takes no writes later either.
                connection.invalidate()
                raise QueueUnavailable("the queue's database is read-only")

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Erase what the queue holds of a repository, dead letters too, unless it is at work just now.

        `before` spares what arrived later (seconds since 1970); without it everything goes that is there.
        """
        with self._ready():
            erase(self._engine, repository_id, before)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def _ready(self) -> Iterator[None]:
        """Take a turn and have the tables there, within a time; what a database can raise becomes QueueUnavailable."""
        with _held(self._turn, self._patience), named_failures():
            self._prepare()
            yield

    def _write(self, entries: Sequence[Entry]) -> list[bool]:
        with write(self._engine) as connection:
            return insert(self._client, connection, entries)

    def _prepare(self) -> None:
        if self._prepared:
            return
        # One at a time: a migration holds one connection for its lock and needs another.
        with _held(self._preparing, self._patience):
            if not self._prepared:
                prepare(self._engine)
                self._prepared = True


@contextmanager
def _held(lock: threading.Semaphore, patience: float) -> Iterator[None]:
    if not lock.acquire(timeout=patience):
        raise QueueUnavailable("the queue's database is busy")
    try:
        yield
    finally:
        lock.release()
