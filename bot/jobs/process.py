"""The worker process: handles what is in the queue until it is told to stop."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

from bot.jobs.queue.chores import Chore
from bot.jobs.queue.job import Job
from bot.jobs.worker import Worker
from bot.settings import Settings

log = logging.getLogger(__name__)

# Heroku kills a process thirty seconds after SIGTERM; the rest is for closing down.
GRACE = 25.0
# Seconds more until it ends in any case; `doppel serve` kills it a little later.
REST = 1.5
# Seconds between two looks at whether somebody has asked for the end.
LOOK_EVERY = 1.0
# A worker that ends because of a job that does not; not 0, after which some hosts would not start it again.
OVERDUE = 70


def run(settings: Settings, handle: Callable[[Job], None], chores: Sequence[Chore] = ()) -> None:
    """Run a worker in this process until SIGTERM or SIGINT; running jobs then get 25 seconds to end.

    Must be called in the main thread. A job that takes longer is left to the next worker: the process ends without
    it, since Python would wait for its thread for ever. The same is done when a job does not end at all, and soon
    after those 25 seconds the process ends, whatever else is in it.
    """
    stop, overdue = threading.Event(), threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    def on_overdue() -> None:
        overdue.set()
        stop.set()

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    worker = Worker(settings, handle, chores, on_overdue=on_overdue)
    worker.start()
    log.info("worker ready: %d at a time", settings.worker_threads)
    # Python runs a signal's handler in this thread, and only when it wakes: the system may give the signal to another.
    while not stop.wait(LOOK_EVERY):
        pass
    log.info("worker stopping")
    # What hangs may hold what the orderly end needs, and Python would wait for DBOS's threads while these wait for a
    # database that is away.
    code = OVERDUE if overdue.is_set() else 0
    threading.Thread(target=_end_in, args=(GRACE + REST, code), daemon=True).start()
    finished = worker.stop(GRACE)
    for number, handler in previous.items():
        signal.signal(number, handler)
    if not finished:
        log.warning("worker ends with jobs unfinished; they will be taken over")
    if overdue.is_set() or not finished:
        logging.shutdown()
        os._exit(code)
    log.info("worker stopped")


def _end_in(seconds: float, code: int) -> None:
    time.sleep(seconds)
    os._exit(code)
