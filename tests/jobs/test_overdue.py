"""What becomes of jobs that hang, and of a worker that stood still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from bot.deliveries.inbox import Inbox
from bot.deliveries.worker import LONGEST, Worker
from bot.platform.logs import RepeatFilter
from bot.platform.settings import Settings
from tests.jobs.conftest import Held, event, row
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


Idle = tuple[Worker, Held, list[str]]


@pytest.fixture
def idle(settings: Settings, inbox: Inbox) -> Iterator[Idle]:
    """A worker that does what the test says, what its one job does, and how often it said that it is overdue."""
    held, told = Held(), list[str]()
    worker = Worker(settings, held, on_overdue=lambda: told.append("overdue"))
    inbox.put("hangs", event(1))
    worker._queue.register(worker._id)
    assert worker._claim_some()
    wait_until(lambda: held.at_work == 1)
    yield worker, held, told
    held.go.set()
    worker.stop(0.0)


def hangs_at(worker: Worker) -> float:
    """When its one job is taken to hang."""
    (one,) = worker._running
    assert one.deadline is not None
    return one.deadline


def renew(worker: Worker, now: float, stood: float) -> None:
    """The round of upkeep at a time; `stood` is how many seconds before that the last one began."""
    worker._heartbeat_at = now - stood
    worker._renew(now)


def test_what_stood_still_with_its_whole_process_is_not_overdue(idle: Idle, engine: sa.Engine) -> None:
    """As in a container that is paused for a backup: each job would count as failed, and some be given up for good."""
    worker, _, told = idle
    end = hangs_at(worker) + 10 * LONGEST
    renew(worker, end - LONGEST, 10 * LONGEST)
    renew(worker, end - 1, 5.0)
    assert (told, row(engine, "hangs").state) == ([], "running")
    renew(worker, end + 1, 5.0)
    assert told == ["overdue"]


def test_while_the_database_is_away_time_goes_on(idle: Idle, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no process that stood still: each round without the database would put off the end by all before it."""
    worker, _, _ = idle
    end = hangs_at(worker)

    def away(_: object) -> set[str]:
        raise sa.exc.OperationalError("", {}, Exception())

    monkeypatch.setattr(worker._queue, "renew", away)
    worker._heartbeat_at = now = end - LONGEST
    for step in range(1, 100):
        with pytest.raises(sa.exc.OperationalError):
            worker._renew(now + 5.0 * step)
    assert hangs_at(worker) == end


def test_the_chores_of_one_that_ends_and_the_jobs_that_it_leaves_are_anybodys(idle: Idle, engine: sa.Engine) -> None:
    worker, held, _ = idle
    assert worker.stop(0.0) is False
    left = row(engine, "hangs")
    assert (left.state, left.lease_token, left.attempts, left.crashes) == ("waiting", None, 0, 0)
    held.go.set()
    wait_until(lambda: not worker._running)
    assert row(engine, "hangs").state == "waiting", "what ends afterwards changes nothing"


def test_while_the_database_is_away_a_worker_asks_again_and_says_so_once(
    idle: Idle, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.deliveries.worker.RETRY_AFTER", 0.0)
    away: list[Exception] = [sa.exc.OperationalError("", {}, Exception("Connection refused")) for _ in range(50)]

    def ask() -> bool:
        if away:
            raise away.pop()
        return True

    assert idle[0]._until_answered(ask)
    assert [line.getMessage() for line in filter(RepeatFilter().filter, caplog.records)] == [
        "the queue is unavailable and will be asked again: nothing listens there"
    ]
