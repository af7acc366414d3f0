"""How the queue stands, for those who watch it: what waits, since when, what was given up, and who works.

Chores are in the queue too, and are left out: a turn can wait for the one before for an hour, and nobody waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.jobs import executors
from bot.jobs.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, input_table, named_failures, workflow_table
from bot.jobs.dead_letters import GIVEN_UP
from bot.jobs.enqueue import WORKFLOW

# DBOS's words for where a job is, and ours.
_WORDS = {"ENQUEUED": "waiting", "DELAYED": "delayed", "PENDING": "running"}
_QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE)


@dataclass(frozen=True, slots=True)
class Standing:
    """`jobs` are counted by queue and state (`waiting`, `delayed` until a time, `running`), `oldest` is how many
    seconds ago the longest waiting job of a queue arrived; `dead` are those given up, as far as their content is not
    erased (C6a), without which nobody can try them again. `workers` are those whose heartbeat is fresh, and `heartbeat`
    is how many seconds ago the last was, of any worker; None where there is none.
    """

    jobs: Mapping[tuple[str, str], int]
    oldest: Mapping[str, float]
    dead: int
    workers: int
    heartbeat: float | None


def standing(engine: sa.Engine) -> Standing:
    """Read it from the queue's database, whose tables are there. Raises QueueUnavailable."""
    workflows = workflow_table(engine)
    # Each status is written out, because SQLite uses its partial indexes only for a literal.
    alive = [_of(workflows, status) for status in _WORDS]
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
    oldest = dict.fromkeys(_QUEUES, 0.0)
    for row in rows:
        jobs[row.queue, _WORDS[row.status]] = row.jobs
        if row.status == "ENQUEUED":
            oldest[row.queue] = max(0.0, (now - row.since) / 1000)
    fresh = [age for age in ages if age <= executors.DEAD_AFTER]
    return Standing(jobs, oldest, given_up, len(fresh), min(ages, default=None))


def _of(workflows: sa.TableClause, status: str) -> sa.Select[Any]:
    """Jobs of one status by queue, and when the first of them came."""
    return (
        sa.select(
            sa.literal_column(f"'{status}'").label("status"),
            workflows.c.queue_name.label("queue"),
            sa.func.count().label("jobs"),
            sa.func.min(workflows.c.created_at).label("since"),
        )
        .where(
            sa.text(f"status = '{status}'"),
            workflows.c.queue_name.in_(_QUEUES),
            workflows.c.name == WORKFLOW,
        )
        .group_by(workflows.c.queue_name)
    )
