"""How the queue stands: how much waits and for how long, what was given up, which workers live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from bot.deliveries.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, WORKERS, jobs, named_failures, state
from bot.deliveries.dead_letters import is_dead
from bot.deliveries.queue import LEASE
from bot.storage.engine import database_time

_QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the queue stands. Chores are left out: nobody waits for them.

    `jobs` are counted by queue and state: `waiting`, `delayed` until a time, `running`. `oldest` is how many seconds
    ago the job of a queue arrived that waits longest for its turn. `again` are the delayed ones that failed before, and
    `oldest_again` is how long ago the first of them arrived. `dead` are those given up. `workers` are those whose lease
    holds, and `heartbeat` is how many seconds ago one was renewed last; None where there is no worker.
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
    """Read it from the queue's database, whose table is there. Raises QueueUnavailable."""
    now = database_time(engine)
    waits = sa.case(
        (jobs.c.state == "running", "running"),
        (jobs.c.run_after <= now, "waiting"),
        (jobs.c.attempts == 0, "delayed"),
        else_="again",
    )
    unfinished = (
        sa.select(jobs.c.queue, waits, sa.func.count(), now - sa.func.min(jobs.c.arrived_at))
        .where(state("waiting", "running"), jobs.c.queue.in_(_QUEUES))
        .group_by(jobs.c.queue, waits)
    )
    with named_failures(), engine.connect() as connection:
        rows = connection.execute(unfinished).all()
        dead = connection.execute(sa.select(sa.func.count()).where(is_dead())).scalar_one()
    counts = {(queue, name): 0 for queue in _QUEUES for name in ("waiting", "delayed", "running", "again")}
    ages = dict.fromkeys(counts, 0.0)
    for queue, name, count, age in rows:
        counts[queue, name], ages[queue, name] = count, max(0.0, age)
    again = {queue: counts.pop((queue, "again")) for queue in _QUEUES}
    for queue in _QUEUES:
        counts[queue, "delayed"] += again[queue]
    oldest, oldest_again = ({queue: ages[queue, name] for queue in _QUEUES} for name in ("waiting", "again"))
    beats = heartbeats(engine)
    alive = sum(age <= LEASE for age in beats)
    return Standing(counts, oldest, again, oldest_again, dead, alive, min(beats, default=None))


def heartbeats(engine: sa.Engine) -> list[float]:
    """How many seconds ago each worker renewed its lease. Raises QueueUnavailable."""
    age = database_time(engine) - (jobs.c.lease_until - LEASE)
    with named_failures(), engine.connect() as connection:
        ages = connection.execute(sa.select(age).where(state("running"), jobs.c.queue == WORKERS)).scalars()
        return [max(0.0, one) for one in ages]
