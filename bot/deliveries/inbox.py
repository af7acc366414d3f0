"""Adds jobs to the queue, lists them, and erases their payloads. `worker.py` runs the jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
    state,
)
from bot.deliveries.events import Event, InstallationEvent, to_json
from bot.deliveries.queue import NewJob, Queue
from bot.platform.settings import Settings
from bot.storage.engine import write
from bot.storage.sqlite import SharedCommit, empty_log, is_full, take_write_lock

# The longest wait for a connection, and also for a lock, in seconds. GitHub allows a webhook ten seconds in all.
PATIENCE = 3.0

# True if writes are refused: the server is a standby, or its host has stopped writes (disk full, plan used up).
_REFUSES_WRITES = sa.text(
    "SELECT current_setting('transaction_read_only') = 'on' OR NOT has_table_privilege('jobs', 'INSERT')"
)


def new_job(delivery_id: str, event: Event, delay: float = 0.0) -> NewJob:
    """The job for an event. Repository and installation are 0 if the event has none."""
    # JSON may hold half of a surrogate pair, which no database can store.
    text = to_json(event).encode("utf-8", "replace").decode("utf-8")
    repository = 0 if isinstance(event, InstallationEvent) else event.repository.id
    queue = queue_of(event.partition)
    return NewJob(delivery_id, queue, event.installation or 0, repository, event.partition, text, delay)


class Inbox:
    """A process's handle on the queue. Safe to share between threads."""

    def __init__(self, settings: Settings, *, patience: float = PATIENCE) -> None:
        """Opens no connection, so a process can start while its database is unavailable. Meanwhile, it answers 503."""
        self._engine = queue_engine(settings, patience=patience)
        self._queue = Queue(self._engine)
        self._prepared = False
        # PostgreSQL itself combines the commits of several connections. On SQLite one thread commits for all.
        self._shared = SharedCommit(self._queue.put, patience) if self._engine.dialect.name == "sqlite" else None

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Commit a delivery to the queue; False if its id is already there. Raises QueueUnavailable within seconds."""
        new = new_job(delivery_id, event, delay_seconds)
        with self._ready():
            if self._shared is None:
                return self._queue.put([new])[0]
            try:
                return self._shared.write(new)
            except TimeoutError:
                raise QueueUnavailable("the queue's database is busy") from None

    def running(self, partitions: Collection[str]) -> set[str]:
        """The given partitions that have a running job. Raises QueueUnavailable."""
        query = sa.select(jobs.c.partition).where(state("running"), jobs.c.partition.in_(partitions))
        return {row.partition for row in read_jobs(self._engine, query)}

    def check(self) -> None:
        """Raise QueueUnavailable if the queue cannot take a delivery now: no table, no right to write, or no space."""
        with self._ready(), self._engine.connect() as connection:
            # Somebody may have removed the database's file since this process started.
            connection.execute(sa.select(jobs.c.number).limit(1))
            if connection.dialect.name == "sqlite":
                # SQLite grants the write lock even on a full disk. A trial write at each check would wear the disk.
                if is_full(self._engine):
                    raise QueueUnavailable("the disk of the queue's database is full")
                take_write_lock(connection)
                connection.rollback()
            elif connection.execute(_REFUSES_WRITES).scalar_one():
                # A connection that was opened to a read-only server stays read-only.
                connection.invalidate()
                raise QueueUnavailable("the queue's database is read-only")

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Erase a repository's payloads, or only those that arrived before `before` (seconds since 1970).

        A running job loses its payload but stays running; waiting jobs and dead letters become done. The ids stay, so
        that the queue drops a redelivery.
        """
        conditions = [jobs.c.repository == repository_id, jobs.c.state != "done"]
        if before is not None:
            conditions.append(jobs.c.arrived_at < before)
        new_state = sa.case((jobs.c.state == "running", jobs.c.state), else_="done")
        erase = sa.update(jobs).where(*conditions).values(state=new_state, payload="", done_at=self._queue.now)
        with self._ready():
            with write(self._engine) as connection:
                erased = connection.execute(erase).rowcount
            if erased:
                empty_log(self._engine)  # SQLite's log keeps deleted text.

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _ready(self) -> Iterator[None]:
        with named_failures():
            if not self._prepared:
                prepare(self._engine)
                self._prepared = True
            yield


def has_arrived(settings: Settings, since: float) -> bool:
    """Whether any delivery was committed to the queue after `since`, in seconds since 1970. Raises QueueUnavailable."""
    # GitHub's deliveries are in QUEUE; the other queues have only jobs that the bot itself added.
    return bool(_select_jobs(settings, jobs.c.queue == QUEUE, jobs.c.arrived_at > since))


def queued_content(settings: Settings, repository_id: int) -> list[dict[str, Any]]:
    """A repository's jobs that have content, in order of arrival, ready for JSON (C6a). Raises QueueUnavailable."""
    rows = _select_jobs(settings, jobs.c.repository == repository_id, jobs.c.payload != "")
    return [{"id": row.id, "status": row.state, "arrived": row.arrived_at, "content": row.payload} for row in rows]


def _select_jobs(settings: Settings, *conditions: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    engine = queue_engine(settings, pool_size=3)
    try:
        return read_jobs(engine, sa.select(jobs).where(*conditions).order_by(jobs.c.number))
    finally:
        engine.dispose()
