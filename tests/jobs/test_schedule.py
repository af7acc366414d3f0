"""Chores: done once a turn, however many workers there are, and again after one that failed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from bot.deliveries import worker as worker_module
from bot.deliveries.database import SCHEDULE
from bot.deliveries.queue import POISON, Queue, Schedule, ScheduledTask
from bot.deliveries.worker import Worker
from bot.platform.lease import check_lease
from bot.platform.settings import Settings
from tests.jobs.conftest import change, row
from tests.waiting import stays, wait_until

pytestmark = pytest.mark.slow

# A turn that nobody lives to see the end of.
NEVER = 1e12
SWEEP = "schedule:sweep"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "POLL_EVERY", 0.05)
    monkeypatch.setattr(worker_module, "RENEW_EVERY", 0.1)


@contextmanager
def working(settings: Settings, *chores: ScheduledTask, workers: int = 1) -> Iterator[None]:
    started = [Worker(settings, lambda job: None, chores) for _ in range(workers)]
    for worker in started:
        worker.start()
    yield
    assert all(worker.stop() for worker in started)


def over(engine: sa.Engine, chore: str = SWEEP) -> bool:
    """Whether its turn is over, and the next one put off."""
    now = row(engine, chore)
    return bool(now.state == "waiting" and now.started_at and now.run_after > now.started_at)


def test_a_turn_is_done_by_one_of_all_workers_and_the_next_in_time(settings: Settings, engine: sa.Engine) -> None:
    done = list[str]()
    chores = [ScheduledTask(name, NEVER, lambda name=name: done.append(name)) for name in ("sweep", "wash")]  # type: ignore[misc]
    with working(settings, *chores, workers=3):
        wait_until(lambda: all(over(engine, one.id) for one in chores))
        stays(lambda: sorted(done) == ["sweep", "wash"])
        change(engine, "schedule:wash", run_after=0.0)
        wait_until(lambda: len(done) == 3)
    with working(settings, *chores):
        stays(lambda: sorted(done) == ["sweep", "wash", "wash"])


def test_what_failed_is_done_in_the_next_turn(
    settings: Settings, engine: sa.Engine, caplog: pytest.LogCaptureFixture
) -> None:
    tried = list[str]()

    def fail() -> None:
        tried.append("tried")
        raise ValueError("private text")

    with caplog.at_level(logging.WARNING), working(settings, ScheduledTask("sweep", NEVER, fail)):
        wait_until(lambda: over(engine))
        change(engine, SWEEP, run_after=0.0)
        wait_until(lambda: len(tried) == 2)
    assert "task sweep failed" in caplog.text
    assert "private text" not in caplog.text


def test_what_another_worker_has_taken_over_writes_nothing_more_on_github(
    settings: Settings, engine: sa.Engine
) -> None:
    """This machine stood still in the middle of it; two would open the issue with the digest."""
    told, goes_on = list[str](), threading.Event()

    def do() -> None:
        check_lease()
        first = not told
        told.append("ours")
        if first:
            goes_on.wait()
            check_lease()
            told.append("written")

    with working(settings, ScheduledTask("sweep", NEVER, do), ScheduledTask("other", NEVER, lambda: None)):
        wait_until(lambda: told)
        change(engine, SWEEP, lease_token="another's")
        goes_on.set()
        wait_until(lambda: over(engine, "schedule:other"))
        stays(lambda: told == ["ours"])
        change(engine, SWEEP, lease_until=0.0)
        wait_until(lambda: told == ["ours", "ours"])


def test_what_belongs_to_the_start_is_done_at_each_start_whatever_was_done_before(
    settings: Settings, engine: sa.Engine
) -> None:
    """Deliveries may have failed just because no worker, or nothing at all, was there
    (`handlers.scheduled.redelivery`).
    """
    done = list[str]()
    for turn in (1, 2):
        with working(settings, ScheduledTask("sweep", NEVER, lambda: done.append("done"), at_start=True)):
            wait_until(lambda turn=turn: len(done) == turn and over(engine))  # type: ignore[misc]


def test_a_turn_comes_in_time_where_the_clock_was_set_back(settings: Settings, engine: sa.Engine) -> None:
    """By their times they were put off, and nothing would be looked after for as long as the clock was ahead."""
    queue, done = Queue(engine), list[str]()
    with working(settings, ScheduledTask("sweep", 86_400.0, lambda: done.append("done"))):
        wait_until(lambda: over(engine))
        # The next turn is a day ahead at the most.
        change(engine, SWEEP, run_after=queue.now + 86_000)
        stays(lambda: len(done) == 1)
        change(engine, SWEEP, run_after=queue.now + 90_000)
        wait_until(lambda: len(done) == 2)


def test_a_chore_that_kills_its_workers_is_given_up_until_a_turn_later(settings: Settings, engine: sa.Engine) -> None:
    queue = Queue(engine)
    schedule = Schedule(queue, [ScheduledTask("sweep", 1000.0, lambda: None)])
    schedule.repair(starting=True)
    for death in range(POISON):
        assert queue.claim(SCHEDULE, suspects=death >= 2)
        change(engine, SWEEP, lease_until=0.0)
        queue.expire()
        schedule.repair(starting=True)
    assert row(engine, SWEEP).state == "dead"
    change(engine, SWEEP, done_at=queue.now - 1001)
    schedule.repair()
    assert not queue.claim(SCHEDULE), "it is suspected still"
    (claim,) = queue.claim(SCHEDULE, suspects=True)
    assert claim and schedule.reschedule(claim, ScheduledTask("sweep", 1000.0, lambda: None))
    assert row(engine, SWEEP).crashes == 0


def test_a_chore_of_another_version_is_left_to_its_workers(settings: Settings, engine: sa.Engine) -> None:
    done = list[str]()
    newer: Callable[[], None] = lambda: done.append("newer")  # noqa: E731
    Schedule(Queue(engine), [ScheduledTask("newer", NEVER, newer)]).repair(starting=True)
    with working(settings, ScheduledTask("sweep", NEVER, lambda: None)):
        wait_until(lambda: over(engine, "schedule:newer"))
    change(engine, "schedule:newer", run_after=0.0)
    with working(settings, ScheduledTask("newer", NEVER, newer)):
        wait_until(lambda: done == ["newer"])


def test_all_workers_agree_on_the_turns() -> None:
    wait = ScheduledTask("sweep", 1800.0, lambda: None).wait
    assert [wait(0.0), wait(1799.0), wait(1800.0), wait(3599.5)] == [1800, 1, 1800, 0.5]
    late = ScheduledTask("sweep", 1800.0, lambda: None, late=60.0).wait
    assert [late(0.0), late(60.0), late(1800.0)] == [60, 1800, 60]
