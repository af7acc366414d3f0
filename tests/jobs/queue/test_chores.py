"""Chores: done once a turn, however many workers there are, and again after one that failed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.at_work import make_sure
from bot.jobs import Chore, DeadLetters, Worker
from bot.jobs.queue.chores import CHORE, call_for
from bot.jobs.queue.database import queue_client, queue_engine, workflow_table
from bot.settings import Settings
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(store_url: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=store_url, worker_threads=2)


def test_a_turn_is_done_once_whoever_calls_for_it(settings: Settings) -> None:
    engine = queue_engine(settings)
    done, all_done = list[str](), threading.Event()
    # The turn of the first is over in the year 2030.
    sweep = Chore("sweep", 1.9e9, lambda: done.append("sweep"))
    last = Chore("wash", 1.9e9, lambda: (done.append("wash"), all_done.set())[0])
    for _ in range(3):
        call_for(queue_client(engine), engine, sweep, 0)
    worker = Worker(settings, lambda job: None, [sweep, last])
    worker.start()
    assert all_done.wait(LONGEST)
    for _ in range(3):
        call_for(queue_client(engine), engine, sweep, 0)
        worker._timetable.call()
    all_done.clear()
    call_for(queue_client(engine), engine, last, 1)
    assert all_done.wait(LONGEST)
    assert worker.stop()
    assert sorted(done) == ["sweep", "wash", "wash"]
    engine.dispose()


def test_turns_come_again_where_the_clock_is_set_back(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their numbers they were done, and nothing would be looked after for as long as the clock was ahead."""
    done, ahead, really = list[float](), [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: really() + ahead[0])
    worker = Worker(settings, lambda job: None, [Chore("sweep", 1e6, lambda: done.append(ahead[0]))])
    engine = queue_engine(settings)
    under_way = sa.select(sa.func.count()).where(workflow_table(engine).c.status.in_(["ENQUEUED", "PENDING"]))

    def turns(number: int) -> bool:
        """Whether so many are over, and their ends in the database."""
        with engine.connect() as connection:
            return len(done) == number and not connection.execute(under_way).scalar_one()

    worker.start()
    wait_until(lambda: turns(1))
    for before, number in enumerate((1, 2, 3, 0, 1, 2), 2):
        ahead[0] = number * 1e6
        worker._timetable.call()
        wait_until(lambda before=before: turns(before))  # type: ignore[misc]
    assert done == [0.0, 1e6, 2e6, 3e6, 0.0, 1e6, 2e6]
    assert worker.stop()
    engine.dispose()


def test_turns_come_again_where_the_clock_is_set_back_before_a_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a machine's hardware clock shows another zone's time, and is set right while it starts anew."""
    done, ahead, really = threading.Semaphore(0), [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: really() + ahead[0])
    sweep = Chore("sweep", 1e6, done.release)
    for numbers in ((3, 4, 5, 6), (4, 5)):
        ahead[0] = numbers[0] * 1e6
        worker = Worker(settings, lambda job: None, [sweep])
        worker.start()
        for number in numbers:
            ahead[0] = number * 1e6
            worker._timetable.call()
            assert done.acquire(timeout=LONGEST), f"turn {number} was not done"
        assert worker.stop()
    # The clocks of two machines may differ by little, or at the end of a turn: what the other has done is done.
    ahead[0] -= 1e6
    worker = Worker(settings, lambda job: None, [sweep])
    worker.start()
    assert worker.stop()
    assert not done.acquire(blocking=False)


def test_what_failed_is_done_in_the_next_turn_and_is_no_dead_letter(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    done, succeeded = list[str](), threading.Event()

    def do() -> None:
        done.append("tried")
        if len(done) == 1:
            raise ValueError("private text")
        succeeded.set()

    worker = Worker(settings, lambda job: None, [Chore("sweep", 1e12, do)])
    with caplog.at_level(logging.WARNING), closing(DeadLetters(settings)) as letters:
        worker.start()
        engine = queue_engine(settings)
        call_for(queue_client(engine), engine, Chore("sweep", 1.0, do), 1)
        assert succeeded.wait(LONGEST)
        assert worker.stop()
        assert letters.list() == []
        engine.dispose()
    assert done == ["tried", "tried"]
    assert "chore sweep failed" in caplog.text
    assert "private text" not in caplog.text


def test_what_another_worker_has_taken_over_writes_nothing_more_on_github(settings: Settings) -> None:
    """This machine stood still in the middle of it; two would open the issue with the digest."""
    engine = queue_engine(settings)
    told, ended = list[str](), threading.Event()

    def do() -> None:
        table = workflow_table(engine)
        make_sure()
        told.append("ours")
        # Taken, and given up: DBOS would wait in this process for what nobody here will ever do.
        lost = {"owner_xid": "another's", "status": "CANCELLED"}
        with engine.begin() as connection:
            connection.execute(sa.update(table).where(table.c.name == CHORE).values(lost))
        ended.set()
        make_sure()
        told.append("written")

    worker = Worker(settings, lambda job: None, [Chore("sweep", 1e12, do)])
    worker.start()
    assert ended.wait(LONGEST)
    assert worker.stop()
    assert told == ["ours"]
    engine.dispose()


def test_what_belongs_to_the_start_is_done_at_each_start_whatever_was_done_before(settings: Settings) -> None:
    """Deliveries may have failed just because no worker, or nothing at all, was there (`bot.chores.redelivery`)."""
    done = threading.Semaphore(0)
    # Its turn is over in the year 2030, and the first worker does that one too.
    sweep = Chore("sweep", 1.9e9, done.release, at_start=True)
    for expected in (2, 1):
        worker = Worker(settings, lambda job: None, [sweep])
        worker.start()
        assert all(done.acquire(timeout=LONGEST) for _ in range(expected))
        assert worker.stop()
    assert not done.acquire(blocking=False)


def test_all_workers_agree_on_the_turns() -> None:
    chore: Callable[[float], int] = Chore("sweep", 1800.0, lambda: None).turn
    assert [chore(0.0), chore(1799.9), chore(1800.0), chore(3600.0)] == [0, 0, 1, 2]
