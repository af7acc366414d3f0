"""Whether an older job of the same issue is still to be done, so that a later one waits for it."""

from __future__ import annotations

import time

import sqlalchemy as sa

from bot.jobs.queue.database import has_status, partition_of, queue_for, workflow_table
from bot.jobs.queue.job import LATER_RUN, Message

# How soon an older job must be due for the later ones of its partition to wait for it. A command given a minute after
# one that hit a rate limit must not overtake it; one given while an outage lasts for hours should not wait as long.
HOLD = 300.0


class OlderJobs:
    """Asked before every job: the statement is built once, since building it takes longer than the database does."""

    def __init__(self, engine: sa.Engine) -> None:
        workflows = workflow_table(engine)
        self._engine = engine
        self._latest = sa.select(sa.func.max(workflows.c.delay_until_epoch_ms)).where(
            has_status("DELAYED"),
            workflows.c.queue_name == sa.bindparam("queue"),
            workflows.c.queue_partition_key.in_((sa.bindparam("lane"), sa.bindparam("partition"))),
            partition_of(workflows) == sa.bindparam("partition"),
            workflows.c.created_at < sa.bindparam("arrived"),
            workflows.c.delay_until_epoch_ms < sa.bindparam("horizon"),
            workflows.c.workflow_uuid.like(LATER_RUN),
        )

    def wait(self, message: Message) -> float | None:
        """In how many seconds an older job of this partition will be tried again, if one waits and not for too long.

        By one look at the clock: set back between two, it would add the difference to the wait.
        """
        now = time.time()
        asked = {
            "queue": queue_for(message.partition),
            "lane": message.lane,
            "partition": message.partition,
            "arrived": message.arrived,
            "horizon": (now + HOLD) * 1000,
        }
        with self._engine.connect() as connection:
            due = connection.execute(self._latest, asked).scalar_one()
        return None if due is None else due / 1000 - now
