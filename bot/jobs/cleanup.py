"""What leaves the queue, and when.

A finished job's content goes within the hour: it may quote a command from a private repository. Its id stays for a
week, because GitHub redelivers for three days (Enterprise Server: seven) and a redelivery must stay a no-op. Dead
letters wait a month for somebody to look.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from bot.jobs.database import belongs_to, input_table, queue_client, workflow_table
from bot.jobs.dead_letters import GIVEN_UP
from bot.store.engine import empty_log, write

_HOUR = 3600.0
_DAY = 24 * _HOUR
KEEP_CONTENT = _HOUR / 2
KEEP_FINISHED = 7 * _DAY + _HOUR
KEEP_DEAD = 30 * _DAY

# Rows in one transaction, and the pause after it, so that nobody waits long for the lock.
_BATCH = 500
_PAUSE = 0.05


def clean(engine: sa.Engine, now: float) -> int:
    """Remove what is old enough; returns how many jobs went altogether. `now` in seconds since 1970."""
    workflows, inputs = workflow_table(engine), input_table(engine)
    content = (
        sa.select(inputs.c.workflow_uuid)
        .join(workflows, workflows.c.workflow_uuid == inputs.c.workflow_uuid)
        .where(
            # A dead letter that was retried is CANCELLED.
            workflows.c.status.in_(["SUCCESS", "CANCELLED"]),
            # The first bound is on an index; a job can have waited long before it was done, hence the second.
            inputs.c.retention_timestamp < _milliseconds(now - KEEP_CONTENT),
            workflows.c.completed_at < _milliseconds(now - KEEP_CONTENT),
        )
    )
    _in_batches(engine, content, lambda ids: _drop_content(engine, ids))
    client = queue_client(engine)
    gone = 0
    for statuses, keep in ((["SUCCESS", "CANCELLED"], KEEP_FINISHED), (GIVEN_UP, KEEP_DEAD)):
        old = sa.select(workflows.c.workflow_uuid).where(
            workflows.c.status.in_(statuses), workflows.c.completed_at < _milliseconds(now - keep)
        )
        gone += _in_batches(engine, old, lambda ids: client.delete_workflows(list(ids)))
    empty_log(engine)
    return gone


def erase(engine: sa.Engine, repository_id: int, before: float) -> None:
    """Cancel what waits for a repository and drop the content of its jobs, as far as they arrived before (seconds).

    What is at work right now ends by itself; `clean` then drops its content. The ids stay, against redeliveries.
    """
    workflows, inputs = workflow_table(engine), input_table(engine)
    of_repository = sa.and_(belongs_to(workflows, repository_id), workflows.c.created_at < _milliseconds(before))
    client = queue_client(engine)
    waiting = sa.select(workflows.c.workflow_uuid).where(of_repository, workflows.c.status.in_(["ENQUEUED", "DELAYED"]))
    _in_batches(engine, waiting, lambda ids: client.cancel_workflows(list(ids)))
    content = (
        sa.select(inputs.c.workflow_uuid)
        .join(workflows, workflows.c.workflow_uuid == inputs.c.workflow_uuid)
        .where(of_repository, workflows.c.status != "PENDING")
    )
    if _in_batches(engine, content, lambda ids: _drop_content(engine, ids)):
        empty_log(engine)


def _in_batches(engine: sa.Engine, query: sa.Select[Any], remove: Callable[[Sequence[str]], None]) -> int:
    """Remove what the query finds until it finds nothing more; the removal must make its rows leave the query."""
    removed = 0
    while True:
        with engine.connect() as connection:
            ids = connection.execute(query.limit(_BATCH)).scalars().all()
        if ids:
            remove(ids)
        removed += len(ids)
        if len(ids) < _BATCH:
            return removed
        time.sleep(_PAUSE)


def _drop_content(engine: sa.Engine, ids: Sequence[str]) -> None:
    inputs = input_table(engine)
    with write(engine) as connection:
        connection.execute(sa.delete(inputs).where(inputs.c.workflow_uuid.in_(ids)))


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
