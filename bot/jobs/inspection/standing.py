"""How the queue stands, for those who watch it: what waits, since when, what was given up, and who works.

Chores are in the queue too, and are left out: a turn can wait for the one before for an hour, and nobody waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.jobs.queue.database import (
    BACKGROUND_QUEUE,
    GIVEN_UP,
    QUEUE,
    REPLAY_QUEUE,
    input_table,
    named_failures,
    workflow_table,
)
from bot.jobs.queue.enqueue import WORKFLOW
from bot.jobs.queue.job import LATER_RUN
from bot.jobs.recovery import executors

# DBOS's words for where a job is, and ours.
_WORDS = {"ENQUEUED": "waiting", "DELAYED": "delayed", "PENDING": "running"}
# And for the delayed ones that were begun before: an edit that waits for the next one was not.
_AGAIN = "AGAIN"
_QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE)


@dataclass(frozen=True, slots=True)
class Standing:
    """`jobs` are counted by queue and state (`waiting`, `delayed` until a time, `running`), `oldest` is how many
    seconds ago the job of a queue arrived that waits longest for its turn. `again` are the delayed ones that failed, or
    come after one that did, and `oldest_again` is how long ago the first of them arrived. `dead` are those given up, as
    far as their content is not erased (C6a), without which nobody can try them again. `workers` are those whose
    heartbeat is fresh, and `heartbeat` is how many seconds ago the last was, of any worker; None where there is none.
    """

    jobs: Mapping[tuple[str, str], int]
    oldest: Mapping[str, float]
    again: Mapping[str, int]
    oldest_again: Mapping[str, float]
    dead: int
    workers: int
    heartbeat: float | None

    def longest(self, queue: str) -> float:
        """How many seconds ago the first of what waits for its turn or for another try arrived; 0 if nothing does.

        While GitHub is away every job waits for another try, most of a day, and none for its turn.
        """
        return max(self.oldest[queue], self.oldest_again[queue])


def standing(engine: sa.Engine) -> Standing:
    """Read it from the queue's database, whose tables are there. Raises QueueUnavailable."""
    workflows = workflow_table(engine)
    # Each status is written out, because SQLite uses its partial indexes only for a literal.
    later = workflows.c.workflow_uuid.like(LATER_RUN)
    alive = [*(_of(workflows, status) for status in _WORDS), _of(workflows, "DELAYED", _AGAIN, later)]
    inputs = input_table(engine)
    dead = (
        sa.select(sa.func.count())
        .select_from(workflows)
        .join(inputs, inputs.c.workflow_uuid == workflows.c.workflow_uuid)
        .where(sa.text(f"status IN ('{GIVEN_UP[0]}', '{GIVEN_UP[1]}')"), workflows.c.name == WORKFLOW)
    )
    with named_failures(), engine.connect() as connection:
        rows = connection.execute(sa.union_all(*alive)).all()
        given_up = connection.execute(dead).scalar_one()
        ages = executors.ages(engine, connection)
    now = time.time() * 1000
    jobs = {(queue, state): 0 for queue in _QUEUES for state in _WORDS.values()}
    oldest, oldest_again = dict.fromkeys(_QUEUES, 0.0), dict.fromkeys(_QUEUES, 0.0)
    again = dict.fromkeys(_QUEUES, 0)
    for row in rows:
        age = max(0.0, (now - row.since) / 1000)
        if row.status == _AGAIN:
            again[row.queue], oldest_again[row.queue] = row.jobs, age
            continue
        jobs[row.queue, _WORDS[row.status]] = row.jobs
        if row.status == "ENQUEUED":
            oldest[row.queue] = age
    fresh = [age for age in ages if age <= executors.DEAD_AFTER]
    return Standing(jobs, oldest, again, oldest_again, given_up, len(fresh), min(ages, default=None))


def _of(
    workflows: sa.TableClause, status: str, called: str = "", only: sa.ColumnElement[bool] | None = None
) -> sa.Select[Any]:
    """Jobs of one status by queue, and when the first of them came; under another name where they are `only` some."""
    return (
        sa.select(
            sa.literal_column(f"'{called or status}'").label("status"),
            workflows.c.queue_name.label("queue"),
            sa.func.count().label("jobs"),
            sa.func.min(workflows.c.created_at).label("since"),
        )
        .where(
            sa.text(f"status = '{status}'"),
            workflows.c.queue_name.in_(_QUEUES),
            workflows.c.name == WORKFLOW,
            sa.true() if only is None else only,
        )
        .group_by(workflows.c.queue_name)
    )
