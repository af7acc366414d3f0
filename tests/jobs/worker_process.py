"""What a worker process of the tests does."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from bot.at_work import make_sure
from bot.events import IssueEvent
from bot.jobs import Chore, Job, process
from bot.jobs.recovery import executors, overdue, trials
from bot.jobs.running import retry
from bot.settings import Settings
from tests.waiting import wait_until

#: Of what does not end.
MOST_TRIES = 2
#: Of those that a chore takes down.
MOST_DEATHS = 2
KILLED = 9


def main(database_url: str, home: Path, host: str = "", longest: float = 0.0, chore_kills: bool = False) -> None:
    """Work until SIGTERM, and write a line for the beginning and the end of each job to `home`/log.

    A job's label `sleep=N` makes it last N seconds, and `hold=N` so long from when there is `home`/go; what was taken
    over meanwhile has no end. With `host` it says that it is on that machine, and heartbeats are ten times as quick;
    without, none ever goes stale. A job may last `longest` seconds, if that is said, and is soon tried again. With
    `chore_kills` there is a chore that takes the process down half a second after it begins, and a job has.
    """
    if host:
        executors._host = lambda: host  # type: ignore[assignment,misc]
        executors.BEAT_EVERY, executors.DEAD_AFTER = executors.BEAT_EVERY / 10, executors.DEAD_AFTER / 10
    else:
        # What is taken over is known to be dead.
        executors.DEAD_AFTER = 1e9

    if longest:
        overdue.LONGEST, process.GRACE = longest, 1.0
        retry._FIRST_WAIT, retry.MOST_TRIES_OF_A_FAULT = 0.1, MOST_TRIES

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
        make_sure()
        note("end", job)

    def kill() -> None:
        wait_until((home / "log").exists)
        time.sleep(0.5)
        os._exit(KILLED)

    chores = [Chore("kill", 1e12, kill)] if chore_kills else []
    trials.SETTLED, trials.MOST_DEATHS = 0.5, MOST_DEATHS
    process.run(Settings(home=home, database_url=database_url, worker_threads=4), handle, chores)


def beside_a_thread(database_url: str, home: Path) -> None:
    """A worker in whose process something else never ends; it takes a second to stop."""
    process.GRACE = 1.0
    threading.Thread(target=time.sleep, args=(600.0,)).start()
    process.run(Settings(home=home, database_url=database_url), lambda job: None)
