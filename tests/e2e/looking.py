"""Looks into the queue that cost next to nothing while nothing is written to it.

The worker and the tests look some two hundred times a second, so that nobody waits long, and almost every time nothing
has changed. To see that by queries through SQLAlchemy took a third of the processor time of these tests.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from dbos._queue import Queue
from dbos._sys_db import SystemDatabase

_STARTABLE = (
    "SELECT 1 FROM workflow_status AS it WHERE status = 'ENQUEUED' AND queue_name = ? AND NOT EXISTS ("
    "SELECT 1 FROM workflow_status WHERE status = 'PENDING' AND queue_name = it.queue_name"
    " AND queue_partition_key = it.queue_partition_key) LIMIT 1"
)


class Glance:
    """A connection that only reads, for one thread at a time."""

    def __init__(self, file: Path) -> None:
        # Without transactions of the driver's: an open one would keep what is read from growing old.
        self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)

    def one(self, query: str, *values: str) -> Any:
        """The first row of what a query finds, or None."""
        return self._connection.execute(query, values).fetchone()

    def version(self) -> int:
        """A number that is another one once somebody has written to the file."""
        return int(self.one("PRAGMA data_version")[0])

    def close(self) -> None:
        self._connection.close()


@contextmanager
def looking_only_at_changes(patch: pytest.MonkeyPatch, file: Path) -> Iterator[None]:
    """DBOS asks what it may begin only if the file was written to since it found nothing.

    It also reads once how a queue is set up and which version of the application is the latest, instead of before each
    look and each start: these tests change nothing about that.
    """
    dequeue_scopes, get_queue = SystemDatabase.dequeue_scopes, SystemDatabase.get_queue
    is_latest_version = SystemDatabase._is_latest_version
    glances: dict[str, Glance] = {}
    nothing_at: dict[str, int] = {}
    queues: dict[str, Queue] = {}
    latest: dict[str, bool] = {}

    def scopes_with_work(database: SystemDatabase, queue: str) -> list[Any]:
        if queue not in glances:
            glances[queue] = Glance(file)
        # Read before the query: what is written during that makes the next look a real one.
        version = glances[queue].version()
        if nothing_at.get(queue) == version:
            return []
        if glances[queue].one(_STARTABLE, queue):
            return dequeue_scopes(database, queue)
        nothing_at[queue] = version
        return []

    def queue_as_it_was(database: SystemDatabase, name: str, **options: Any) -> Queue | None:
        # With options a client asks, which gets objects of its own.
        if options:
            return get_queue(database, name, **options)
        if name not in queues and (found := get_queue(database, name)) is not None:
            queues[name] = found
        return queues.get(name)

    def latest_as_it_was(database: SystemDatabase, version: str, connection: sa.Connection | None = None) -> bool:
        if version not in latest:
            latest[version] = is_latest_version(database, version, connection)
        return latest[version]

    patch.setattr(SystemDatabase, "dequeue_scopes", scopes_with_work)
    patch.setattr(SystemDatabase, "_is_latest_version", latest_as_it_was)
    patch.setattr(SystemDatabase, "get_queue", queue_as_it_was)
    try:
        yield
    finally:
        for glance in glances.values():
            glance.close()
