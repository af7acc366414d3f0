"""Workers as processes: killed, stopped, and several at once. The same on SQLite and on PostgreSQL."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.app.wiring.worker_process import OVERDUE
from bot.deliveries.database import QUEUE, WORKERS, jobs, queue_engine, state
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import POISON
from bot.platform.settings import Settings
from bot.storage import replaced as files
from bot.storage.engine import write
from tests.jobs import worker_process
from tests.jobs.conftest import event
from tests.waiting import LONGEST, stays, wait_until

pytestmark = pytest.mark.processes

on_one_database = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
"""For what the process decides; what it asks the database for, the queue's own tests ask on both."""

# Each worker is a process of its own, forked from one that has loaded what it needs and done nothing yet.
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["bot.app.wiring.worker_process"])


@dataclass
class Workers:
    """Starts worker processes on one database, and reads what they did."""

    database_url: str
    home: Path
    inbox: Inbox
    started: list[ForkServerProcess]

    @contextmanager
    def queue(self) -> Iterator[sa.Engine]:
        engine = queue_engine(Settings(home=self.home, database_url=self.database_url))
        yield engine
        engine.dispose()

    def start(self, *how: float) -> ForkServerProcess:
        process = _forks.Process(target=worker_process.main, args=(self.database_url, self.home, *how))
        process.start()
        self.started.append(process)
        return process

    def start_while_standing_still(self, first: ForkServerProcess, until: Callable[[], bool]) -> ForkServerProcess:
        """Stop a worker, start another that takes it for dead, and let the first go on once the other is so far."""
        assert first.pid is not None
        status = Path(f"/proc/{first.pid}/status")
        # Not in the middle of writing: what it has locked would be so until it goes on.
        with self.queue() as engine, write(engine) as connection:
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE jobs IN SHARE MODE")
            os.kill(first.pid, signal.SIGSTOP)
            wait_until(lambda: "State:\tT" in status.read_text())
        second = self.start()
        wait_until(until)
        os.kill(first.pid, signal.SIGCONT)
        return second

    def put(self, delivery_id: str, number: int, sleep: float = 0.0, *, hold: bool = False) -> None:
        """`hold`: it is at work until `go` is called, and then for so many seconds."""
        assert self.inbox.put(delivery_id, event(number, label=f"{'hold' if hold else 'sleep'}={sleep}"))

    def go(self) -> None:
        (self.home / "go").touch()

    def log(self, word: str) -> list[list[str]]:
        """The log's lines that begin with a word: delivery, partition, process."""
        file = self.home / "log"
        lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        return [line[1:] for line in lines if line[0] == word]

    def beating(self) -> int:
        """How many workers have a lease."""
        with self.queue() as engine, engine.connect() as connection:
            if not sa.inspect(connection).has_table(jobs.name):
                return 0
            mine = (state("running"), jobs.c.queue == WORKERS)
            return connection.execute(sa.select(sa.func.count()).where(*mine)).scalar_one()

    def left(self) -> int:
        """How many jobs are in the queue for anybody to take."""
        with self.queue() as engine, engine.connect() as connection:
            free = (state("waiting"), jobs.c.queue == QUEUE)
            return connection.execute(sa.select(sa.func.count()).where(*free)).scalar_one()


def ended(process: ForkServerProcess) -> int | None:
    """The exit code of a process that was asked to end."""
    process.join(LONGEST)
    return process.exitcode


@pytest.fixture
def workers(store_url: str, tmp_path: Path) -> Iterator[Workers]:
    inbox = Inbox(Settings(home=tmp_path, database_url=store_url))
    workers = Workers(store_url, tmp_path, inbox, [])
    yield workers
    inbox.close()
    for process in workers.started:
        process.kill()
        process.join()


@on_one_database
def test_a_worker_ends_also_where_a_thread_does_not(workers: Workers) -> None:
    """As those of the queue's driver while their database is away."""
    process = _forks.Process(target=worker_process.beside_a_thread, args=(workers.database_url, workers.home))
    process.start()
    workers.started.append(process)
    wait_until(lambda: workers.beating() == 1)
    process.terminate()
    assert ended(process) == 0


def test_a_living_worker_takes_over_from_a_killed_one(workers: Workers) -> None:
    processes = {str(process.pid): process for process in (workers.start(), workers.start())}
    wait_until(lambda: workers.beating() == 2)
    workers.put("killed", 1, hold=True)
    workers.put("behind", 1)
    wait_until(lambda: len(workers.log("begin")) == 1)
    processes.pop(workers.log("begin")[0][2]).kill()
    workers.go()
    (other,) = processes
    wait_until(lambda: len(workers.log("end")) == 2)
    assert [line[0] for line in workers.log("begin")] == ["killed", "killed", "behind"]
    assert workers.log("end") == [["killed", "5#1", other], ["behind", "5#1", other]]
    wait_until(lambda: workers.beating() == 1)


def test_a_worker_whose_database_was_replaced_ends_and_the_next_goes_on_with_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would work on a lost file for as long as it lives."""
    url = f"sqlite:///{tmp_path / 'doppel.db'}"
    inbox = Inbox(Settings(home=tmp_path, database_url=url))
    workers = Workers(url, tmp_path, inbox, [])
    first = workers.start()
    workers.put("one", 1)
    wait_until(lambda: len(workers.log("end")) == 1)
    queue, backup = tmp_path / "doppel-queue.db", tmp_path / "b"
    with closing(sqlite3.connect(queue)) as there, closing(sqlite3.connect(backup)) as copy:
        there.backup(copy)
    for file in tmp_path.glob("doppel-queue.db*"):
        file.unlink()
    backup.rename(queue)
    assert ended(first) == OVERDUE
    second = workers.start()
    monkeypatch.setattr(files, "SETTLED", 0.0)
    workers.put("two", 2)
    wait_until(lambda: "two" in [line[0] for line in workers.log("end")])
    second.terminate()
    assert ended(second) == 0


def test_who_stood_still_leaves_alone_what_another_has_taken_over(workers: Workers) -> None:
    """What it was at is done by the other one alone."""
    first = workers.start()
    jobs = [f"d{issue}" for issue in range(7)]
    for issue, delivery in enumerate(jobs):
        workers.put(delivery, issue, hold=True)
    wait_until(lambda: len(workers.log("begin")) == 4)

    def all_done_by_the_other() -> bool:
        if len(workers.log("begin")) > 4:
            workers.go()
        return len(workers.log("end")) == 7

    second = workers.start_while_standing_still(first, all_done_by_the_other)
    # Its own come to their ends.
    stays(lambda: len(workers.log("begin")) == 4 + 7, 1.0)
    first.terminate()
    assert ended(first) == 0
    assert sorted((line[0], line[2]) for line in workers.log("end")) == [(one, str(second.pid)) for one in jobs]
    assert len([line for line in workers.log("begin") if line[2] == str(first.pid)]) == 4


def test_two_workers_do_everything_once_and_each_issue_in_order(workers: Workers) -> None:
    for job in range(48):
        workers.put(f"d{job:02}", job % 8, sleep=0.02)
    processes = [workers.start(), workers.start()]
    wait_until(lambda: len(workers.log("end")) == 48)
    begun = workers.log("begin")
    assert sorted(line[0] for line in begun) == [f"d{job:02}" for job in range(48)]
    by_issue = defaultdict(list)
    for delivery, partition, _ in begun:
        by_issue[partition].append(delivery)
    assert all(deliveries == sorted(deliveries) for deliveries in by_issue.values())
    assert {line[2] for line in begun} == {str(process.pid) for process in processes}
    for process in processes:
        process.terminate()
    assert [ended(process) for process in processes] == [0, 0]


@on_one_database
def test_sigterm_lets_running_jobs_end_and_begins_no_other(workers: Workers) -> None:
    process = workers.start()
    running, waiting = [f"running-{issue}" for issue in range(4)], [f"waiting-{issue}" for issue in range(6)]
    for issue, delivery in enumerate(running):
        workers.put(delivery, issue, sleep=2.0, hold=True)
    wait_until(lambda: len(workers.log("begin")) == 4)
    for issue, delivery in enumerate(waiting):
        workers.put(delivery, issue)
    stays(lambda: len(workers.log("begin")) == 4)
    process.terminate()
    workers.go()
    assert ended(process) == 0
    assert sorted(line[0] for line in workers.log("end")) == running
    assert len(workers.log("begin")) == 4
    assert workers.left() == len(waiting), "what was not begun is free for others"
    workers.start()
    wait_until(lambda: len(workers.log("end")) == 10)
    assert sorted(line[0] for line in workers.log("begin")) == running + waiting


@on_one_database
def test_a_job_that_never_ends_is_given_up_with_its_worker_and_keeps_no_other_waiting(workers: Workers) -> None:
    """Python cannot stop its thread: each failed attempt ends a worker, and whoever watches starts the next."""
    workers.put("hangs", 1, sleep=600)
    codes = []
    for _ in range(worker_process.MOST_TRIES):
        codes.append(ended(workers.start(0.5)))
    assert codes == [OVERDUE] * worker_process.MOST_TRIES
    letters = DeadLetters(Settings(home=workers.home, database_url=workers.database_url))
    (letter,) = letters.list()
    letters.close()
    assert (letter.delivery_id, letter.attempts) == ("hangs", worker_process.MOST_TRIES)
    assert "did not end" in letter.reason
    assert "worker_process.py" in letter.reason, "it says where"
    workers.put("behind", 1)
    workers.start(60.0)
    wait_until(lambda: len(workers.log("end")) == 1)
    assert [line[0] for line in workers.log("begin")] == ["hangs", "hangs", "behind"]


@on_one_database
def test_a_chore_that_kills_its_worker_is_given_up_and_takes_no_delivery_with_it(workers: Workers) -> None:
    """It would kill each worker soon after its start, and what takes longer than that be blamed for it."""
    workers.put("innocent", 1, sleep=1.5, hold=True)
    for _ in range(POISON):
        assert ended(workers.start(0.0, True)) == worker_process.KILLED
        # It was at work in the first one.
        workers.go()
    last = workers.start(0.0, True)
    workers.put("behind", 1, sleep=1.5)
    wait_until(lambda: len(workers.log("end")) == 2)
    last.terminate()
    assert ended(last) == 0
    assert [line[0] for line in workers.log("begin")] == ["innocent", "innocent", "innocent", "behind"]
