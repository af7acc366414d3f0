"""The worker: claims jobs from the queue and runs each in a thread of its own.

One thread claims jobs whenever a slot is free. A second one waits for news of the queue. A third is the heartbeat: it
renews the leases of running jobs and takes back the jobs of dead workers. A handler may run twice for one delivery,
if a worker was killed or suspended. So its work must be repeatable, and `bot.github` checks the lease before each
write (`bot.platform.lease`).
"""

from __future__ import annotations

import logging
import os
import random
import secrets
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from bot.deliveries import database
from bot.deliveries.database import BACKGROUND_QUEUE, DIED, QUEUE, REPLAY_QUEUE, SCHEDULE
from bot.deliveries.events import Event, from_json
from bot.deliveries.queue import CHANNEL, LEASE, NO_INSTALLATION, ClaimedJob, Queue, Schedule, ScheduledTask, decide
from bot.domain.errors import DidNotEnd, Overtaken, RateLimited, UserError
from bot.domain.formats import counted
from bot.platform.lease import working_under_lease
from bot.platform.logs import OFTEN, describe, stack
from bot.platform.metrics import JOBS
from bot.platform.settings import Settings
from bot.platform.tracing import Work, span, working_on
from bot.storage.failures import why
from bot.storage.replaced import SqliteDatabases

log = logging.getLogger(__name__)

# All in seconds. A worker polls for due jobs even if nothing wakes it.
RENEW_EVERY, POLL_EVERY, CLEAN_EVERY = LEASE / 6, 0.5, 600.0
# A delivery counts as hung after LONGEST, other jobs after LONGEST_BACKGROUND: an evaluation takes hours.
LONGEST, LONGEST_BACKGROUND = 900.0, 6 * 3600.0
# When GitHub's rate limit stops a job, the repository's `opened` deliveries wait in the queue for at most
# LONGEST_POSTPONED. Until _LIMIT_PAUSE has passed, this worker claims only suspect deliveries from the repository.
LONGEST_POSTPONED, _LIMIT_PAUSE = 300.0, 2.0
# After RETRY_AFTER, an absent database is asked again. After _UNKNOWN_TASK, a task of another version is due again.
RETRY_AFTER, _UNKNOWN_TASK = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """A delivery for a handler. `attempt` counts from 1 and leaves out crashes; `arrived` is in seconds since 1970."""

    delivery_id: str
    event: Event
    attempt: int
    arrived: float


@dataclass(eq=False, slots=True)
class _RunningJob:
    """A job in its thread. `thread` is the thread's id. `lost`: the lease has ended, so this worker records no outcome.

    After `deadline` (monotonic clock) the job counts as hung. `deadline` is None once the handler has ended.
    """

    claim: ClaimedJob
    deadline: float | None
    thread: int = 0
    lost: bool = False

    def stack(self) -> str:
        frame = sys._current_frames().get(self.thread)
        frames = traceback.extract_stack(frame)[-3:] if frame else []
        return "; ".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)


class Worker:
    """Runs the scheduled tasks. Calls `handle` for one background job, one replay and up to
    `worker_threads` + 1 deliveries at a time, at most `worker_threads` of them of one installation.
    """

    def __init__(
        self,
        settings: Settings,
        handle: Callable[[Job], None],
        tasks: Sequence[ScheduledTask] = (),
        *,
        on_overdue: Callable[[], None] = lambda: None,
    ) -> None:
        """`handle` raises UserError to end the job. After Retryable and most other errors, `decide` says when to retry.

        `on_overdue` must make the process end soon. It is called if a job hangs or the database was replaced.
        """
        self._settings = settings
        self._handle = handle
        self._on_overdue = on_overdue
        self._most = settings.worker_threads
        self._engine = database.queue_engine(settings, pool_size=self._most + 12)
        self._id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._queue = Queue(self._engine, worker=self._id)
        tasks = [*tasks, ScheduledTask("queue", CLEAN_EVERY, self._queue.clean)]
        self._schedule = Schedule(self._queue, tasks)
        self._free = {QUEUE: self._most + 1, BACKGROUND_QUEUE: 1, REPLAY_QUEUE: 1, SCHEDULE: len(tasks)}
        self._changed = threading.Condition()  # Held to change `_free` or `_running`.
        self._running: set[_RunningJob] = set()
        # For each limited repository: when to claim its deliveries again (monotonic clock).
        self._limited: dict[int, float] = {}
        self._wake, self._stopping, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._heartbeat_at = time.monotonic()

    def start(self) -> None:
        """Begin to claim jobs; returns when the worker is ready."""
        database.prepare(self._engine)
        self._queue.register(self._id)
        self._schedule.repair(starting=True)
        self._databases = SqliteDatabases((self._settings.database_url, database.queue_url(self._settings)))
        for work in (self._claim, self._heartbeat, partial(listen, self._engine, self._wake, self._ended)):
            self._threads.append(threading.Thread(target=work, name="queue", daemon=True))
            self._threads[-1].start()

    def stop(self, timeout: float = 25.0) -> bool:
        """Claim no more jobs, and release jobs that still run after `timeout` seconds. Returns whether all ended."""
        self._stopping.set()
        self._wake.set()
        # First wait for the claiming thread, because it may still add jobs to `_running`.
        if self._threads:
            self._threads[0].join(RENEW_EVERY)
        with self._changed:
            finished = self._changed.wait_for(lambda: not self._running, timeout)
        self._ended.set()
        try:
            for job in [*self._running]:
                self._queue.release(job.claim)
            for thread in self._threads:
                thread.join(RENEW_EVERY)
            self._queue.unregister(self._id)
        except Exception as error:
            # The database is away. The process must end anyway, and its leases will expire.
            log.warning("the end of this worker could not be noted: %s", describe(error))
        self._engine.dispose()
        return finished

    def _claim(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                claimed = self._claim_some()
            except Exception as error:
                log.warning("the queue is unavailable and will be asked again: %s", describe(error), extra=OFTEN)
                self._stopping.wait(RETRY_AFTER)
                continue
            if not claimed:
                self._wake.wait(POLL_EVERY)

    def _claim_some(self) -> bool:
        """Claim jobs of each queue that has a free slot; returns whether any job was claimed.

        A suspect job has killed at least two workers; only one runs at a time. A suspect delivery runs without other
        deliveries, which a crash would end too. Other suspect jobs can take hours, so deliveries run beside them.
        """
        with self._changed:
            free = {queue for queue, slots in self._free.items() if slots}
            busy = Counter(job.claim.installation for job in self._running if job.claim.queue == QUEUE)
            suspects_running = [job.claim.queue for job in self._running if job.claim.suspect]
        if not free or QUEUE in suspects_running:
            return False
        due, suspects = self._queue.due()
        if not suspects_running and QUEUE in suspects:
            # The suspect delivery must run alone, so claim nothing until the running deliveries have ended.
            return not busy and self._claim_from(QUEUE, suspects=True)
        if not suspects_running and any(self._claim_from(queue, suspects=True) for queue in sorted(suspects & free)):
            return True
        # The extra slot is not for an installation that already has `_most` running deliveries.
        busiest = max(busy, key=busy.__getitem__, default=NO_INSTALLATION)
        busiest_is_full = busy[busiest] >= self._most
        claimed = False
        for queue in due & free:
            most, excluded = self._free[queue], NO_INSTALLATION
            if queue == QUEUE and busiest_is_full:
                most, excluded = 1, busiest
            elif queue == QUEUE:
                # All newly claimed deliveries may be of the busiest installation, which is limited to `_most`.
                most = min(most, self._most - busy[busiest])
            claimed |= self._claim_from(queue, most, without=excluded)
        return claimed

    def _claim_from(self, queue: str, most: int = 1, *, suspects: bool = False, without: int = NO_INSTALLATION) -> bool:
        now = time.monotonic()
        # A suspect job must not wait: all others wait for it.
        limited = [] if suspects or queue != QUEUE else [id for id, until in [*self._limited.items()] if until > now]
        claims = self._queue.claim(queue, most, suspects=suspects, without=without, limited=limited)
        for claim in claims:
            job = _RunningJob(claim, time.monotonic() + (LONGEST if queue == QUEUE else LONGEST_BACKGROUND))
            with self._changed:
                self._free[queue] -= 1
                self._running.add(job)
            try:
                threading.Thread(target=self._run, args=(job,), name=f"job-{queue}", daemon=True).start()
            except RuntimeError:
                # The system allows no further thread. The job will wait again once its lease has expired.
                self._remove(job)
                raise
        return bool(claims)

    def _run(self, job: _RunningJob) -> None:
        job.thread = threading.get_ident()
        run = self._run_task if job.claim.queue == SCHEDULE else self._deliver
        try:
            with working_under_lease(partial(self._holds_lease, job)):
                run(job)
        finally:
            self._remove(job)
            self._wake.set()

    def _remove(self, job: _RunningJob) -> None:
        with self._changed:
            self._running.discard(job)
            self._free[job.claim.queue] += 1
            self._changed.notify_all()

    def _deliver(self, job: _RunningJob) -> None:
        claim = job.claim
        here = Work(claim.id, attempt=claim.attempts + 1, arrived=claim.arrived)
        with working_on(here), span("job", claim.id, attempt=here.attempt) as traced:
            error = None
            try:
                if claim.payload:  # An erased repository's job has no payload, and needs no work (C6a).
                    self._handle(Job(claim.id, from_json(claim.payload), claim.attempts + 1, claim.arrived))
            except Exception as raised:
                error = raised
            # The handler has ended. A job that only waits for the queue's database does not count as hung.
            job.deadline = None
            traced.set_attribute("outcome", self._record_outcome(job, error))

    def _record_outcome(self, job: _RunningJob, error: Exception | None) -> str:
        """Record how a run ended, unless another worker now has the job. Returns the outcome, as a label of JOBS."""
        claim, failures, level = job.claim, job.claim.attempts + 1, logging.DEBUG
        outcome, message, record = "done", "", partial(self._queue.finish, claim)
        if isinstance(error, UserError):
            level, outcome, message = logging.INFO, "refused", f"refused: {type(error).__name__}"
        elif error is not None:
            wait = decide(error, failures, random.random())  # noqa: S311 - it only spreads the load.
            record = partial(self._queue.fail, claim, describe(error), wait)
            if wait is None:
                level, outcome, message = logging.ERROR, "dead", f"given up after {counted(failures, 'attempt')}"
            else:
                level, outcome, message = logging.WARNING, "failed", f"failed, and is tried again in {wait:.0f} s"
                if isinstance(error, RateLimited):
                    self._limited[claim.repository] = time.monotonic() + _LIMIT_PAUSE
                    # The `opened` deliveries wait as long as after one failure, even if this job has failed more often.
                    postponed = min(decide(error, 1, 0.0) or wait, LONGEST_POSTPONED)
                    self._until_answered(partial(self._queue.postpone, claim.repository, postponed))
        if job.lost or isinstance(error, Overtaken) or not self._until_answered(record):
            level, outcome, message = logging.WARNING, "overtaken", "was taken over by another worker"
        JOBS.labels(outcome).inc()
        if level > logging.DEBUG:
            trace = f"\n{stack(error)}" if error and outcome in ("dead", "failed") else ""
            log.log(level, "delivery %s %s%s", claim.id, message, trace)
        return outcome

    def _run_task(self, job: _RunningJob) -> None:
        task = self._schedule.tasks.get(job.claim.id)
        if task is None:
            # The task belongs to another version, whose workers may run too.
            self._until_answered(lambda: self._queue.reschedule(job.claim, _UNKNOWN_TASK))
            return
        try:
            task.run()
        except Overtaken:
            log.warning("task %s was taken over by another worker", task.name)
        except Exception as error:
            log.warning("task %s failed, and runs again in its next turn\n%s", task.name, stack(error))
        job.deadline = None
        self._until_answered(lambda: self._schedule.reschedule(job.claim, task))

    def _holds_lease(self, job: _RunningJob) -> bool:
        """Renew a job's lease; returns whether the lease still held. Raises QueueUnavailable."""
        with database.named_failures():
            return not job.lost and bool(self._queue.renew([job.claim.token]))

    def _until_answered(self, operation: Callable[[], int]) -> int:
        """Repeat an operation until the database answers: a job whose end is not recorded would run again."""
        while True:
            try:
                return operation()
            except Exception as error:
                log.warning("the queue is unavailable and will be asked again: %s", why(error), extra=OFTEN)
                time.sleep(RETRY_AFTER)

    def _heartbeat(self) -> None:
        while not self._ended.wait(RENEW_EVERY):
            try:
                self._renew(time.monotonic())
                if self._databases.replaced():
                    log.error("the database is another one than before: this worker ends, to begin anew")
                    self._on_overdue()
                    return
                self._expire()
                self._schedule.repair()
            except Exception as error:
                log.warning("the queue's upkeep failed and will be tried again: %s", describe(error), extra=OFTEN)

    def _renew(self, now: float) -> None:
        """Renew the leases of this worker and its jobs, and give up hung jobs."""
        with self._changed:
            running = [*self._running]
        # Note the time even if the renewal below fails: otherwise failed renewals would look like a suspended process.
        elapsed, self._heartbeat_at = now - self._heartbeat_at, now
        if elapsed > 6 * RENEW_EVERY:
            # The machine suspended this process with all its jobs.
            for job in running:
                job.deadline = None if job.deadline is None else job.deadline + elapsed
        hanging = [job for job in running if job.deadline is not None and job.deadline < now and not job.lost]
        leases = self._queue.renew([self._id, *(job.claim.token for job in running)])
        if self._id not in leases:
            self._queue.register(self._id)
        for job in running:
            # A job that has just ended has no lease. Marking such a job as lost does no harm.
            job.lost = job.lost or job.claim.token not in leases
        for job in hanging:
            log.error("%s does not end, and neither does its thread: this worker ends", job.claim.id)
            self._on_overdue()
            if (task := self._schedule.tasks.get(job.claim.id)) is not None:
                self._schedule.reschedule(job.claim, task)
            else:
                self._record_outcome(job, DidNotEnd(f"it did not end: {job.stack()}"))
            job.lost = True

    def _expire(self) -> None:
        expired = self._queue.expire()
        JOBS.labels("dead").inc(sum(expired.values()))
        for id, dead in expired.items():
            level, fate = (logging.ERROR, DIED) if dead else (logging.WARNING, "it waits again")
            log.log(level, "%s was lost: %s", id, fate)
        if expired:
            self._wake.set()


# Seconds between checks of SQLite's file; more while it is idle. A pause of 0.01 s cost a busy worker 20% of its time.
_SHORTEST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.05, 0.1, 1.05


def listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    """Set `wake` at each change of the queue, until `ended` is set. Logs errors; polling still finds the jobs."""
    watch = _watch_file if engine.dialect.name == "sqlite" else _watch_channel
    while not ended.is_set():
        try:
            watch(engine, wake, ended)
        except Exception as error:
            log.warning("the queue cannot tell what is new: %s", why(error), extra=OFTEN)
            ended.wait(RETRY_AFTER)


def _watch_file(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    with engine.connect() as connection:
        # SQLite's `data_version` changes whenever another connection has committed.
        version, pause = -1, _SHORTEST_PAUSE
        while not ended.wait(pause):
            current = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
            connection.rollback()
            pause = _SHORTEST_PAUSE if current != version else min(_LONGEST_PAUSE, pause * _GROWTH)
            if current != version:
                version = current
                wake.set()


def _watch_channel(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    # Import late: psycopg chooses during its import how to wait, and gevent in the web process must patch Python first.
    import psycopg

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        try:
            while not ended.is_set():
                for _ in driver.notifies(timeout=RETRY_AFTER, stop_after=1):
                    wake.set()
        finally:
            # Do not return the connection to the pool, where it would go on listening.
            connection.invalidate()
