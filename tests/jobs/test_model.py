"""The queue against a slow reference in plain Python: whatever workers, their deaths and the clock do.

Of ids, leases, order, fairness and clocks this is the test; test_queue.py has what the reference does not know.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis.strategies as st
import pytest
import sqlalchemy as sa
from hypothesis import settings as profile
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from bot.deliveries.database import DIED, QUEUE, jobs, prepare, queue_engine
from bot.deliveries.queue import HOLD, LEASE, POISON, ClaimedJob, NewJob, Queue
from bot.platform.settings import Settings
from bot.storage.engine import write

clock = sa.table("clock", sa.column("now", sa.Float()))
PASSES = {"crash": LEASE + 1, "upkeep": 0.0, "minutes": HOLD, "hour": 4000.0, "back": -500.0, "far back": -90_000.0}
ENDS = ["finish", "fail", "fail", "give up", "release", "renew"]
actions = st.sampled_from([*["claim"] * 6, "claim alone", "claim alone", *ENDS, *["crash"] * 4, *PASSES])
delays = st.sampled_from([0.0, 0.0, 200.0, 1000.0])


@dataclass
class Model:
    """A job as it should be. `state` and the rest are those of the table."""

    number: int
    installation: int
    repository: int
    partition: str
    run_after: float
    arrived: float
    state: str = "waiting"
    attempts: int = 0
    crashes: int = 0
    started: float | None = None
    lease: float = 0.0


class Machine(RuleBasedStateMachine):
    """Each rule does one thing in the queue, and says what the reference expects of it."""

    queue: Queue

    def __init__(self) -> None:
        super().__init__()
        self.now, self.serial = 1_000_000.0, itertools.count()
        self.jobs: dict[str, Model] = {}
        self.claims: list[ClaimedJob] = []

    @initialize()
    def begin(self) -> None:
        with write(self.queue.engine) as connection:
            connection.execute(sa.delete(jobs))
        self.pass_time(0.0)

    def pass_time(self, seconds: float) -> None:
        """Also back: somebody has set the clock right."""
        self.now += seconds
        with write(self.queue.engine) as connection:
            connection.execute(sa.update(clock).values(now=self.now))

    @rule(new=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), delays), min_size=1, max_size=5))
    def put(self, new: list[tuple[int, int, float]]) -> None:
        for repository, issue, delay in new:
            number, partition = next(self.serial), f"{repository}#{issue}"
            entry = NewJob(f"d{number}", QUEUE, repository % 2, repository, partition, "text", delay)
            assert self.queue.put([entry, entry]) == [True, False]
            assert self.queue.put([entry._replace(payload="other", delay=0.0)]) == [False]
            self.jobs[entry.id] = Model(number, repository % 2, repository, partition, self.now + delay, self.now)

    @rule(todo=st.lists(st.tuples(actions, st.integers(0, 9), st.integers(0, 900)), min_size=3, max_size=8))
    def work(self, todo: list[tuple[str, int, int]]) -> None:
        """What workers do, and whoever once had a claim: the lease decides."""
        for what, place, wait in todo:
            claims = [*filter(self.holds, self.claims), *self.claims[-4:]]
            if what in PASSES:
                self.pass_time(PASSES[what])
                self.expire()
            elif what in ("claim", "claim alone"):
                self.claim(alone=what == "claim alone", limited=place)
            elif claims:
                self.end(claims[place % len(claims)], what, wait)
            self.look()

    def claim(self, *, alone: bool, limited: int) -> None:
        waiting = [job for job in self.jobs.values() if job.state == "waiting" and self.is_due(job)]
        calm = any(job.crashes < 2 for job in waiting)
        assert self.queue.due() == ({QUEUE} if calm else set(), {QUEUE} if self.next(alone=True) else set())
        expected = self.next(alone, limited)
        claims = self.queue.claim(QUEUE, suspects=alone, limited=[limited])
        assert [claim.id for claim in claims] == ([expected] if expected else [])
        for claim in claims:
            job = self.jobs[claim.id]
            assert (claim.attempts, claim.arrived, claim.payload) == (job.attempts, job.arrived, "text")
            job.state, job.started, job.lease = "running", self.now, self.now + LEASE
            self.claims.append(claim)

    def end(self, claim: ClaimedJob, end: str, wait: int) -> None:
        job, ours = self.jobs[claim.id], self.holds(claim)
        if end == "renew":
            assert self.queue.renew([claim.token]) == ({claim.token} if ours else set())
            job.lease = self.now + LEASE if ours else job.lease
            return
        if end in ("finish", "release"):
            assert getattr(self.queue, end)(claim) == ours
        else:
            assert self.queue.fail(claim, "raised", None if end == "give up" else float(wait)) == ours
        if ours:
            job.state = {"finish": "done", "give up": "dead"}.get(end, "waiting")
            job.attempts += end in ("fail", "give up")
            if end == "fail":
                job.crashes, job.run_after = 0, self.now + wait

    def expire(self) -> None:
        ends = {id: job.lease - self.now for id, job in self.jobs.items() if job.state == "running"}
        lost = {id: self.jobs[id] for id, left in ends.items() if left < 0 or left > LEASE + 60}
        assert self.queue.expire() == {id: job.crashes + 1 >= POISON for id, job in lost.items()}
        for job in lost.values():
            job.crashes += 1
            job.state = "dead" if job.crashes >= POISON else "waiting"

    def look(self) -> None:
        """Whether the table is as the reference."""
        with self.queue.engine.connect() as connection:
            rows = connection.execute(sa.select(jobs)).all()
        assert {row.id: (row.state, row.attempts, row.crashes) for row in rows} == {
            id: (job.state, job.attempts, job.crashes) for id, job in self.jobs.items()
        }
        for row in rows:
            assert (row.lease_token is not None) == (row.state == "running")
            assert (row.payload == "") == (row.state == "done") == (row.done_at is not None and row.state != "dead")
            assert row.state != "dead" or row.last_error in ("raised", DIED)
        running = [job.partition for job in self.jobs.values() if job.state == "running"]
        assert len(running) == len(set(running)), "one at a time of each partition"

    def holds(self, claim: ClaimedJob) -> bool:
        latest = [one for one in self.claims if one.id == claim.id][-1]
        return self.jobs[claim.id].state == "running" and latest is claim

    def is_due(self, job: Model) -> bool:
        early = job.attempts == 0 and job.arrived > self.now + 60
        late = job.attempts > 0 and job.run_after > self.now + 8 * 3600
        return job.run_after <= self.now or early or late

    def next(self, alone: bool, limited: int = -1) -> str | None:
        """The job that is to be claimed, but none of the repository `limited`: all are looked at, one by one."""

        def blocked(job: Model) -> bool:
            others = [one for one in self.jobs.values() if one.partition == job.partition and one is not job]
            return any(one.state == "running" for one in others) or any(
                one.state == "waiting" and one.number < job.number and one.run_after < self.now + HOLD for one in others
            )

        firsts = dict[int, tuple[str, Model]]()
        for id, job in self.jobs.items():
            fits = job.state == "waiting" and self.is_due(job) and (job.crashes >= 2) == alone and not blocked(job)
            if fits and job.repository not in (*firsts, limited):
                firsts[job.repository] = (id, job)

        def order(job: Model) -> tuple[int, float, int]:
            running = [one for one in self.jobs.values() if one.state == "running"]
            busy = sum(one.installation == job.installation for one in running)
            served = [one.started for one in self.jobs.values() if one.repository == job.repository and one.started]
            return busy, min(self.now, max(served, default=0.0)), job.number

        return min(firsts.values(), key=lambda one: order(one[1]))[0] if firsts else None


@pytest.fixture
def queue(store_url: str, tmp_path: Path) -> Iterator[Queue]:
    engine = queue_engine(
        Settings(home=tmp_path, database_url=store_url).model_copy(update={"sqlite_synchronous": "OFF"})
    )
    prepare(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE clock (now double precision)")
        connection.execute(sa.insert(clock).values(now=0.0))
    yield Queue(engine, "(SELECT now FROM clock)")
    engine.dispose()


@pytest.mark.slow
def test_the_queue_does_what_the_reference_does(queue: Queue) -> None:
    machine = type("Bound", (Machine,), {"queue": queue})
    usual = "20" if queue.engine.dialect.name == "sqlite" else "10"
    few = profile(
        max_examples=int(os.environ.get("DOPPEL_TEST_EXAMPLES", usual)), stateful_step_count=20, deadline=None
    )
    run_state_machine_as_test(machine, settings=few)
