"""What a worker process of the tests does."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from bot.app.wiring import worker_process as process
from bot.deliveries import queue, worker
from bot.deliveries.events import IssueEvent
from bot.deliveries.queue import ScheduledTask
from bot.deliveries.worker import Job
from bot.platform.lease import check_lease
from bot.platform.settings import Settings
from tests.waiting import wait_until

#: Of what does not end.
MOST_TRIES = 2
KILLED = 9
#: Seconds, a tenth of what holds in earnest.
LEASE = queue.LEASE / 10


def main(database_url: str, home: Path, longest: float = 0.0, chore_kills: bool = False) -> None:
    """Work until SIGTERM, and write a line for the beginning and the end of each job to `home`/log.

    A job's label `sleep=N` makes it last N seconds, and `hold=N` so long from when there is `home`/go; what was taken
    over meanwhile has no end. A job may last `longest` seconds, if that is said, and is soon tried again. With
    `chore_kills` there is a chore that takes the process down half a second after it begins, and a job has.
    """
    queue.LEASE = LEASE
    worker.RENEW_EVERY, worker.POLL_EVERY = LEASE / 6, 0.05
    if longest:
        worker.LONGEST, process.GRACE = longest, 1.0
        queue._FIRST_WAIT, queue.MOST_TRIES_OF_A_FAULT = 0.1, MOST_TRIES

    def note(word: str, job: Job) -> None:
        with (home / "log").open("a") as log:
            log.write(f"{word} {job.delivery_id} {job.event.partition} {os.getpid()}\n")

    def handle(job: Job) -> None:
        note("begin", job)
        assert isinstance(job.event, IssueEvent)
        how, _, seconds = job.event.label.partition("=")
        if how == "hold":
            wait_until((home / "go").exists)
        time.sleep(float(seconds))
        check_lease()
        note("end", job)

    def kill() -> None:
        wait_until((home / "log").exists)
        time.sleep(0.5)
        os._exit(KILLED)

    chores = [ScheduledTask("kill", 1e12, kill)] if chore_kills else []
    process.run_worker(Settings(home=home, database_url=database_url, worker_threads=4), handle, chores)


def beside_a_thread(database_url: str, home: Path) -> None:
    """A worker in whose process something else never ends; it takes a second to stop."""
    process.GRACE = 1.0
    threading.Thread(target=time.sleep, args=(600.0,)).start()
    process.run_worker(Settings(home=home, database_url=database_url), lambda job: None)
