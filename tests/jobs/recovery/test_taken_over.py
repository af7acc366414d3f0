"""A worker that goes on after it stood still for so long that its jobs were taken over, and takes them itself again."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
import sqlalchemy as sa

from bot.errors import Unavailable
from bot.jobs import Job
from bot.jobs.queue.database import give_back, workflow_table
from tests.jobs.bench import Bench, event
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow


def take_over(bench: Bench) -> None:
    """What another worker does that takes this one for dead, and is killed before it does any of it."""
    workflows = workflow_table(bench.engine)
    query = sa.select(workflows.c.workflow_uuid, workflows.c.executor_id, workflows.c.owner_xid)
    with bench.engine.connect() as connection:
        taken = connection.execute(query.where(workflows.c.status == "PENDING")).all()
    for one in taken:
        give_back(bench.engine, *one)


def test_what_is_lost_again_and_again_keeps_no_thread_and_is_done_in_the_end(bench: Bench) -> None:
    """DBOS has a run that is no longer ours wait in its thread for what became of the job, which waits for a thread."""
    rounds = [threading.Event() for _ in range(4)]
    at_work = Counter[threading.Event]()

    def hold(job: Job) -> None:
        mine = next((one for one in rounds if not one.is_set()), None)
        if mine is not None:
            at_work[mine] += 1
            mine.wait(LONGEST)

    jobs = [f"lost-{n}" for n in range(32)]
    for n, delivery in enumerate(jobs):
        bench.reactions[delivery] = hold
        bench.inbox.put(delivery, event(n, repo_id=300 + n // 8, installation=300 + n // 8))
    for one in rounds:
        wait_until(lambda one=one: at_work[one] > 0)  # type: ignore[misc]
        take_over(bench)
        one.set()
    wait_until(lambda: bench.statuses(*jobs) == ["SUCCESS"] * len(jobs))


def test_what_is_lost_and_fails_afterwards_is_tried_again_by_its_new_owner_alone(bench: Bench) -> None:
    """Connections are cut while a machine stands still, so that the run which has lost its job fails as a rule."""
    began, goes_on = threading.Event(), threading.Event()

    def fail_when_it_goes_on(job: Job) -> None:
        if not began.is_set():
            began.set()
            goes_on.wait(LONGEST)
            raise Unavailable("the connection was cut")

    bench.reactions["lost-and-failed"] = fail_when_it_goes_on
    bench.inbox.put("lost-and-failed", event(1, repo_id=390, installation=390))
    assert began.wait(LONGEST)
    take_over(bench)
    goes_on.set()
    bench.inbox.put("behind-it", event(1, repo_id=390, installation=390))
    wait_until(lambda: bench.statuses("behind-it") == ["SUCCESS"])
    assert bench.statuses("lost-and-failed", "lost-and-failed~2") == ["SUCCESS"]
    assert [attempt for _, attempt, _ in bench.calls("lost-and-failed")] == [1, 1]
