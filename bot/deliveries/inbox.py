"""The queue for those who are no workers: puts jobs in, erases them, and says what a repository has in it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from bot.deliveries.database import (
    QUEUE,
    QueueUnavailable,
    jobs,
    named_failures,
    prepare,
    queue_engine,
    queue_of,
    read_jobs,
)
from bot.deliveries.events import Event, InstallationEvent, IssueEvent, to_json
from bot.deliveries.queue import NewJob, Queue
from bot.platform.settings import Settings
from bot.storage.engine import write
from bot.storage.sqlite import SharedCommit, empty_log, is_full, take_write_lock

# Seconds. GitHub gives a webhook ten in all; connecting and waiting for a lock can each take this long.
PATIENCE = 3.0

# Deliveries that a web process commits at a time on PostgreSQL; the others wait for a slot.
_SLOTS = 8
_BUSY = "the queue's database is busy"

# A standby, a server that is out of disk space, and a hosting plan that is used up all refuse to write.
_REFUSES = sa.text(
    "SELECT current_setting('transaction_read_only') = 'on' OR NOT has_table_privilege('jobs', 'INSERT')"
)


def debounce(event: Event, seconds: float) -> float:
    """How many seconds a delivery waits: several edits of an issue often come together, and one answer serves all."""
    return seconds if isinstance(event, IssueEvent) and event.action == "edited" else 0.0


def new_job(delivery_id: str, event: Event, delay: float = 0.0) -> NewJob:
    """The job for an event. Repository and installation are 0 where it has none."""
    # JSON may hold half of a surrogate pair, which no database can store.
    text = to_json(event).encode("utf-8", "replace").decode("utf-8")
    repository = 0 if isinstance(event, InstallationEvent) else event.repository.id
    queue = queue_of(event.partition)
    return NewJob(delivery_id, queue, event.installation or 0, repository, event.partition, text, delay)


class Inbox:
    """A process's handle on the queue. Safe to share between threads."""

    def __init__(self, settings: Settings, *, patience: float = PATIENCE) -> None:
        """Does not connect: a process can start while its database is away, and answers 503 until it is back."""
        self._engine = queue_engine(settings, patience=patience, pool_size=_SLOTS + 2)
        self._queue = Queue(self._engine)
        self._prepared = False
        self._preparing = threading.BoundedSemaphore()
        self._patience = patience
        # PostgreSQL makes one commit of several connections'. On SQLite one thread writes for all that wait.
        self._slots = threading.BoundedSemaphore(_SLOTS)
        self._shared = SharedCommit(self._queue.put, patience) if self._engine.dialect.name == "sqlite" else None

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Commit a delivery to the queue; False if its id is known. Raises QueueUnavailable within a few seconds."""
        new = new_job(delivery_id, event, delay_seconds)
        if self._shared is None:
            with self._ready():
                return self._queue.put([new])[0]
        with named_failures():
            self._prepare()
            try:
                return self._shared.write(new)
            except TimeoutError:
                raise QueueUnavailable(_BUSY) from None

    def check(self) -> None:
        """Raise QueueUnavailable if the queue could not take a delivery now: its table is missing or not writable."""
        with self._ready(), self._engine.connect() as connection:
            # Somebody may have taken the file away since this process began.
            connection.execute(sa.select(jobs.c.number).limit(1))
            if connection.dialect.name == "sqlite":
                # SQLite grants the lock on a full disk as well, and a trial write would wear the disk at each check.
                if is_full(self._engine):
                    raise QueueUnavailable("the disk of the queue's database is full")
                take_write_lock(connection)
                connection.rollback()
            elif connection.execute(_REFUSES).scalar_one():
                # A connection made while the server takes no writes takes none later either.
                connection.invalidate()
                raise QueueUnavailable("the queue's database is read-only")

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Erase a repository's payloads, dead letters too, but what arrived later than `before` (seconds since 1970).

        The ids stay, against redeliveries. A running job loses its payload when it ends.
        """
        here = [jobs.c.repository == repository_id, jobs.c.state.in_(["waiting", "dead"])]
        if before is not None:
            here.append(jobs.c.arrived_at < before)
        gone = sa.update(jobs).where(*here).values(state="done", payload="", done_at=self._queue.now)
        with self._ready():
            with write(self._engine) as connection:
                erased = connection.execute(gone).rowcount
            if erased:
                empty_log(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _ready(self) -> Iterator[None]:
        with _acquired(self._slots, self._patience), named_failures():
            self._prepare()
            yield

    def _prepare(self) -> None:
        if not self._prepared:
            # One at a time: the schema takes one connection for its lock and needs another.
            with _acquired(self._preparing, self._patience):
                prepare(self._engine)
                self._prepared = True


def has_arrived(settings: Settings, since: float) -> bool:
    """Whether any delivery was committed to the queue after `since`, in seconds since 1970. Raises QueueUnavailable."""
    return bool(_some(settings, jobs.c.queue == QUEUE, jobs.c.arrived_at > since, limit=1))


def queued_content(settings: Settings, repository_id: int) -> list[dict[str, Any]]:
    """A repository's jobs that have content, in order of arrival, ready for JSON (C6a). Raises QueueUnavailable."""
    rows = _some(settings, jobs.c.repository == repository_id, jobs.c.payload != "")
    return [{"id": row.id, "status": row.state, "arrived": row.arrived_at, "content": row.payload} for row in rows]


def _some(settings: Settings, *which: sa.ColumnElement[bool], limit: int | None = None) -> Sequence[sa.Row[Any]]:
    engine = queue_engine(settings, pool_size=3)
    try:
        return read_jobs(engine, sa.select(jobs).where(*which).order_by(jobs.c.number).limit(limit))
    finally:
        engine.dispose()


@contextmanager
def _acquired(lock: threading.Semaphore, patience: float) -> Iterator[None]:
    if not lock.acquire(timeout=patience):
        raise QueueUnavailable(_BUSY)
    try:
        yield
    finally:
        lock.release()
