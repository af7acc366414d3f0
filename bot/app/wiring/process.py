"""The worker process: handles what is in the queue until it is told to stop."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Sequence

from bot.deliveries.queue import ScheduledTask
from bot.deliveries.worker import Job, Worker
from bot.platform.settings import Settings

log = logging.getLogger(__name__)

# Heroku kills a process thirty seconds after SIGTERM; the rest is for closing down.
GRACE = 25.0
# Seconds more until it ends in any case; `doppel serve` kills it a little later.
REST = 1.5
# Seconds between two looks at whether somebody has asked for the end.
LOOK_EVERY = 1.0
# A worker that ends because of a job that does not; not 0, after which some hosts would not start it again.
OVERDUE = 70


def run(settings: Settings, handle: Callable[[Job], None], tasks: Sequence[ScheduledTask] = ()) -> None:
    """Run a worker in this process until SIGTERM or SIGINT; running jobs then get 25 seconds to end.

    Must be called in the main thread. A job that takes longer is left to the next worker: the process ends without
    it, since Python would wait for its thread for ever. The same is done when a job does not end at all, and soon
    after those 25 seconds the process ends, whatever else is in it.
    """
    stop, code = threading.Event(), 0

    def on_overdue() -> None:
        nonlocal code
        code = OVERDUE
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGINT)
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    worker = Worker(settings, handle, tasks, on_overdue=on_overdue)
    worker.start()
    log.info("worker ready: %d at a time", settings.worker_threads)
    # Python runs a signal's handler in this thread, and only when it wakes: the system may give the signal to another.
    while not stop.wait(LOOK_EVERY):
        pass
    log.info("worker stopping")
    # What hangs may hold what the orderly end needs.
    last = threading.Timer(GRACE + REST, os._exit, (code,))
    last.daemon = True
    last.start()
    finished = worker.stop(GRACE)
    for number, handler in previous.items():
        signal.signal(number, handler)
    if not finished:
        log.warning("worker ends with jobs unfinished; they will be taken over")
    if code or not finished:
        logging.shutdown()
        os._exit(code)
    log.info("worker stopped")
