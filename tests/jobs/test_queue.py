"""The queue's statements: leases, deaths, clocks, cleaning, and how it says it stands."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from bot.deliveries import queue as queue_module
from bot.deliveries import worker as worker_module
from bot.deliveries.database import BACKGROUND_QUEUE, DIED, QUEUE, jobs
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.inbox import Inbox, has_arrived, new_job, queued_content
from bot.deliveries.queue import KEEP_DEAD, KEEP_DONE, LEASE, POISON, ClaimedJob, Queue, Schedule, ScheduledTask
from bot.deliveries.worker import Worker
from bot.interfaces.monitoring.exposition import of_queue, read_queue_state
from bot.platform.settings import Settings
from tests.jobs.conftest import change, event, row, step
from tests.waiting import wait_until


@pytest.fixture
def queue(engine: sa.Engine) -> Queue:
    return Queue(engine)


def put(queue: Queue, *ids: str, number: int = 7, repo_id: int = 5, delay: float = 0.0) -> None:
    assert all(queue.put([new_job(one, event(number, repo_id=repo_id), delay) for one in ids]))


def claimed(queue: Queue, *, alone: bool = False) -> ClaimedJob:
    (claim,) = queue.claim(QUEUE, suspects=alone)
    return claim


def let_die(queue: Queue, job: str) -> dict[str, bool]:
    """The worker that has a job dies; what is taken back."""
    change(queue.engine, job, lease_until=queue.now - 1)
    return queue.expire()


def test_one_that_stood_still_keeps_what_nobody_has_taken_over(queue: Queue) -> None:
    put(queue, "job")
    claim = claimed(queue)
    change(queue.engine, "job", lease_until=queue.now - 100)
    assert queue.renew([claim.token]) == {claim.token}
    assert queue.expire() == {}


def test_a_job_whose_worker_dies_each_time_is_claimed_alone_and_then_given_up(queue: Queue, settings: Settings) -> None:
    put(queue, "deadly", "behind")
    for death in range(POISON):
        suspected = death >= 2
        assert (QUEUE in queue.due()[1]) == suspected
        assert queue.claim(QUEUE, suspects=not suspected) == []
        assert claimed(queue, alone=suspected).suspect == suspected
        assert let_die(queue, "deadly") == {"deadly": death == POISON - 1}
    letters = DeadLetters(settings)
    (letter,) = letters.list()
    assert (letter.delivery_id, letter.attempts, letter.reason) == ("deadly", 0, DIED)
    assert claimed(queue).id == "behind"
    assert letters.retry("deadly")
    letters.close()
    assert row(queue.engine, "deadly").crashes == 0, "who tries it again by hand begins anew"


@pytest.mark.parametrize("end", ["fail", "again"])
def test_what_comes_to_an_end_has_killed_nobody(queue: Queue, end: str) -> None:
    put(queue, "job")
    for _ in range(POISON + 1):
        claimed(queue)
        assert let_die(queue, "job") == {"job": False}
        claim = claimed(queue)
        assert queue.fail(claim, "raised", 0.0) if end == "fail" else queue.reschedule(claim, 0.0)


def test_the_database_itself_refuses_a_second_running_job_of_a_partition(queue: Queue) -> None:
    put(queue, "one", "two")
    claimed(queue)
    with pytest.raises(sa.exc.IntegrityError):
        change(queue.engine, "two", state="running")


def test_c6a_what_ended_goes_after_a_week_and_dead_letters_after_a_month(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "_BATCH", 2)
    ids = [f"done-{n}" for n in range(5)]
    for n, one in enumerate([*ids, "dead", "fresh"]):
        put(queue, one, number=n)
        claim = claimed(queue)
        assert queue.fail(claim, "raised", None) if one == "dead" else queue.finish(claim)
    change(queue.engine, *ids, "dead", done_at=queue.now - KEEP_DONE - 1)
    change(queue.engine, ids[0], done_at=queue.now + 2 * KEEP_DONE)
    queue.clean()
    left = sa.select(jobs.c.id).order_by(jobs.c.id)
    with queue.engine.connect() as connection:
        assert connection.execute(left).scalars().all() == ["dead", "fresh"]
    change(queue.engine, "dead", done_at=queue.now - KEEP_DEAD - 1)
    queue.clean()
    with queue.engine.connect() as connection:
        assert connection.execute(left).scalars().all() == ["fresh"]


def test_what_waits_is_told_since_it_arrived_and_apart_from_what_failed(queue: Queue) -> None:
    """GitHub was away for most of a day, nothing was done, and no alarm that the manual names went off."""
    put(queue, "edit", delay=300.0)
    now = read_queue_state(queue.engine)
    assert (now.jobs[QUEUE, "delayed"], now.jobs[QUEUE, "again"], now.longest(QUEUE)) == (1, 0, 0.0)
    put(queue, "failed", number=8)
    queue.fail(claimed(queue), "raised", 3600.0)
    put(queue, "waits", number=9)
    queue.put([new_job(step(5).delivery_id, step(5))])
    change(queue.engine, "failed", arrived_at=queue.now - 3600)
    change(queue.engine, "waits", arrived_at=queue.now - 60)
    now = read_queue_state(queue.engine)
    assert {key: count for key, count in now.jobs.items() if count} == {
        (QUEUE, "delayed"): 1, (QUEUE, "again"): 1, (QUEUE, "waiting"): 1, (BACKGROUND_QUEUE, "waiting"): 1
    }  # fmt: skip
    assert now.dead == 0
    assert now.ages[QUEUE, "waiting"] == pytest.approx(60, abs=30)
    assert now.longest(QUEUE) == pytest.approx(3600, abs=60)
    (told,) = (one for one in of_queue(now) if one.name == "doppel_queue_oldest_seconds")
    assert [one.value for one in told.samples if one.labels["queue"] == QUEUE] == [now.longest(QUEUE)]


def test_workers_are_told_by_their_leases(queue: Queue) -> None:
    now = read_queue_state(queue.engine)
    assert (now.workers, now.heartbeat) == (0, None)
    for worker in ("one", "two"):
        queue.register(worker)
    assert queue.renew(["one", "two", "unknown"]) == {"one", "two"}
    change(queue.engine, "workers:two", lease_until=queue.now - 100)
    now = read_queue_state(queue.engine)
    assert now.workers == 1 and now.heartbeat is not None and now.heartbeat < LEASE
    assert (queue.expire(), queue.renew(["two"])) == ({}, set())
    queue.unregister("one")
    assert read_queue_state(queue.engine).heartbeat is None


def test_chores_are_no_deliveries_and_no_dead_letters(queue: Queue, settings: Settings) -> None:
    Schedule(queue, [ScheduledTask("sweep", 1800.0, lambda: None)]).repair(starting=True)
    change(queue.engine, "schedule:sweep", arrived_at=0.0)
    assert not any(read_queue_state(queue.engine).jobs.values()) and not any(
        read_queue_state(queue.engine).ages.values()
    )
    change(queue.engine, "schedule:sweep", state="dead", done_at=queue.now)
    assert read_queue_state(queue.engine).dead == 0
    letters = DeadLetters(settings)
    assert letters.list() == []
    letters.close()


def test_c6a_what_was_given_up_and_erased_is_no_dead_letter(queue: Queue, inbox: Inbox, settings: Settings) -> None:
    """`doppel jobs` does not list it and nobody can try it again, so that an alert would last for a month."""
    for one, repo_id in (("lost", 5), ("kept", 6)):
        put(queue, one, repo_id=repo_id)
        queue.fail(claimed(queue), "raised", None)
    assert read_queue_state(queue.engine).dead == 2
    assert [one["id"] for one in queued_content(settings, 5)] == ["lost"]
    inbox.erase(5)
    assert (queued_content(settings, 5), read_queue_state(queue.engine).dead) == ([], 1)


@pytest.mark.slow
def test_a_worker_at_rest_is_woken_by_what_arrives(
    queue: Queue, inbox: Inbox, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By LISTEN on PostgreSQL, by the file's version on SQLite: without them it would poll here after an hour."""
    monkeypatch.setattr(worker_module, "POLL_EVERY", 3_600.0)
    worker = Worker(settings, lambda job: None)
    worker.start()
    for turn in range(3):
        inbox.put(f"arrived {turn}", event(7))
        wait_until(lambda turn=turn: row(queue.engine, f"arrived {turn}").state == "done")  # type: ignore[misc]
    assert worker.stop()


def test_whether_a_delivery_has_arrived(queue: Queue, settings: Settings) -> None:
    queue.put([new_job(step(5).delivery_id, step(5))])
    assert not has_arrived(settings, 0.0), "that is none of GitHub's"
    put(queue, "delivery")
    since = row(queue.engine, "delivery").arrived_at
    assert has_arrived(settings, since - 1) and not has_arrived(settings, since)
