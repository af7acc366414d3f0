"""What leaves the queue, and when.

A finished job's content goes within the hour: it may quote a command from a private repository. Its id stays for a
week, because GitHub redelivers for three days (Enterprise Server: seven) and a redelivery must stay a no-op. Dead
letters wait a month for somebody to look.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import sqlalchemy as sa

from bot.jobs.queue.database import GIVEN_UP, belongs_to, input_table, queue_client, workflow_table
from bot.jobs.queue.enqueue import AHEAD
from bot.store.database.engine import write
from bot.store.database.sqlite import empty_log

_HOUR = 3600.0
_DAY = 24 * _HOUR
KEEP_CONTENT = _HOUR / 2
KEEP_FINISHED = 7 * _DAY + _HOUR
KEEP_DEAD = 30 * _DAY

# A dead letter that was retried is CANCELLED.
_FINISHED = ["SUCCESS", "CANCELLED"]
_ENDED = [*_FINISHED, *GIVEN_UP]

# Rows in one transaction, and the pause after it, so that nobody waits long for the lock.
_BATCH = 500
_PAUSE = 0.05


def clean(engine: sa.Engine, now: float, patience: float = math.inf) -> bool:
    """Remove what is old enough, for about `patience` seconds; whether nothing of it is left.

    `now` in seconds since 1970. After a burst, or a long time without a worker, there can be hundreds of thousands.
    """
    workflows, inputs = workflow_table(engine), input_table(engine)
    done = _with_content(workflows, inputs).where(workflows.c.status.in_(_FINISHED))
    old, ahead = _milliseconds(now - KEEP_CONTENT), _milliseconds(now + AHEAD)
    contents = (
        # The first bound is on an index; a job can have waited long before it was done, hence the second.
        done.where(inputs.c.retention_timestamp < old, workflows.c.completed_at < old),
        # What is ahead of this clock is from before that was set back, and would stay for as much longer.
        done.where(inputs.c.retention_timestamp > ahead),
        done.where(workflows.c.completed_at > ahead),
    )
    client = queue_client(engine)
    finished, dead = (
        sa.select(workflows.c.workflow_uuid).where(
            workflows.c.status.in_(statuses), workflows.c.completed_at < _milliseconds(now - keep)
        )
        for statuses, keep in ((_FINISHED, KEEP_FINISHED), (GIVEN_UP, KEEP_DEAD))
    )
    end = time.monotonic() + patience
    for _ in chain(
        *(_in_batches(engine, content, lambda ids: _drop_content(engine, ids)) for content in contents),
        _in_batches(engine, finished, lambda ids: client.delete_workflows(list(ids))),
        _in_batches(engine, dead, lambda ids: client.delete_workflows(list(ids))),
    ):
        if time.monotonic() >= end:
            return False
    empty_log(engine)
    return True


def erase(engine: sa.Engine, repository_id: int, before: float | None) -> None:
    """Cancel what waits for a repository and drop the content of its jobs, as far as they arrived before (seconds).

    With None all of them, those too that were stamped by a clock that is ahead of this one, or was set back since.
    What is at work right now, or is tried again because of a failure meanwhile, ends by itself; `clean` then drops its
    content. The ids stay, against redeliveries.
    """
    workflows, inputs = workflow_table(engine), input_table(engine)
    of_repository = belongs_to(workflows, repository_id)
    if before is not None:
        of_repository = sa.and_(of_repository, workflows.c.created_at < _milliseconds(before))
    client = queue_client(engine)
    waiting = sa.select(workflows.c.workflow_uuid).where(of_repository, workflows.c.status.in_(["ENQUEUED", "DELAYED"]))
    for _ in _in_batches(engine, waiting, lambda ids: client.cancel_workflows(list(ids))):
        pass
    # What is put into the queue after the others were cancelled will be begun, which it cannot be without.
    content = _with_content(workflows, inputs).where(of_repository, workflows.c.status.in_(_ENDED))
    if sum(_in_batches(engine, content, lambda ids: _drop_content(engine, ids))):
        empty_log(engine)


def _with_content(workflows: sa.TableClause, inputs: sa.TableClause) -> sa.Select[Any]:
    """The ids of the jobs that still have content."""
    return sa.select(inputs.c.workflow_uuid).join(workflows, workflows.c.workflow_uuid == inputs.c.workflow_uuid)


def _in_batches(engine: sa.Engine, query: sa.Select[Any], remove: Callable[[Sequence[str]], None]) -> Iterator[int]:
    """Remove what the query finds until it finds nothing more, and tell of each batch how many it were.

    The removal must make its rows leave the query.
    """

    def found() -> Sequence[str]:
        with engine.connect() as connection:
            return connection.execute(query.limit(_BATCH)).scalars().all()

    while ids := found():
        remove(ids)
        yield len(ids)
        if len(ids) < _BATCH:
            return
        time.sleep(_PAUSE)


def _drop_content(engine: sa.Engine, ids: Sequence[str]) -> None:
    inputs = input_table(engine)
    with write(engine) as connection:
        connection.execute(sa.delete(inputs).where(inputs.c.workflow_uuid.in_(ids)))


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
