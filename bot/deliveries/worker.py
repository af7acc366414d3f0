"""The worker: claims jobs from the queue and runs each in a thread of its own.

One thread claims (`_claim`) whenever a thread is free and a job may wait. Another renews the leases of running jobs and
looks after the queue (`_keep`). A handler may run twice for one delivery (after a kill, or when the machine stood still
for a while), so its work must be repeatable, and it checks its lease before each write to GitHub
(`bot.platform.at_work`).
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
from bot.deliveries.queue import CHANNEL, LEASE, NOBODY, Claim, Queue, decide
from bot.deliveries.schedule import Chore, Schedule
from bot.domain.errors import DidNotEnd, Overtaken, UserError
from bot.domain.formats import counted
from bot.platform.at_work import held
from bot.platform.logs import OFTEN, describe, stack
from bot.platform.metrics import JOBS
from bot.platform.settings import Settings
from bot.platform.tracing import Work, span, working_on
from bot.storage.failures import why
from bot.storage.replaced import present

log = logging.getLogger(__name__)

# All in seconds. The second is how long a worker waits to be woken before it looks for due jobs itself.
RENEW_EVERY, LOOK_EVERY, CLEAN_EVERY = LEASE / 6, 0.5, 600.0
# A delivery, and a background job, that runs for so long hangs. A replay of a repository's past takes hours.
LONGEST, LONGEST_BEHIND = 900.0, 6 * 3600.0
# The pause before the next try while the database is away, and for a chore that only another version knows.
AGAIN_AFTER, _OF_OTHERS = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """One delivery as handlers see it. It was accepted when it `arrived`, in seconds since 1970.

    `attempt` is 1 and one more for each time the handler raised; the death of a worker does not count.
    """

    delivery_id: str
    event: Event
    attempt: int
    arrived: float


@dataclass(eq=False, slots=True)
class _Running:
    """A job in its thread. It hangs if it runs after `until`, by the monotonic clock; None while it is ending."""

    claim: Claim
    until: float | None
    thread: int = 0
    lost: bool = False

    def place(self) -> str:
        """The last frames of its thread, without any values."""
        frame = sys._current_frames().get(self.thread)
        frames = traceback.extract_stack(frame)[-3:] if frame else []
        return "; ".join(f"{one.filename}:{one.lineno} in {one.name}" for one in frames)


class Worker:
    """Runs `handle` for jobs of the queue: `worker_threads` deliveries at a time, one background job, one replay, and
    each chore. One more slot for deliveries is reserved for a second installation.
    """

    def __init__(
        self,
        settings: Settings,
        handle: Callable[[Job], None],
        chores: Sequence[Chore] = (),
        *,
        on_overdue: Callable[[], None] = lambda: None,
    ) -> None:
        """`handle` raises Retryable to be called again later, UserError to end it; anything else counts as a fault.

        The worker calls `on_overdue` when its process must end: a job hangs, or the database was replaced.
        """
        self._settings = settings
        self._handle = handle
        self._on_overdue = on_overdue
        self._most = settings.worker_threads
        self._free = {QUEUE: self._most + 1, BACKGROUND_QUEUE: 1, REPLAY_QUEUE: 1, SCHEDULE: len(chores)}
        self._engine = database.queue_engine(settings, pool_size=self._most + 12)
        self._queue = Queue(self._engine)
        self._schedule = Schedule(self._queue, chores)
        self._id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._changed = threading.Condition()
        self._running: set[_Running] = set()
        self._wake, self._stopping, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._looked = time.monotonic()

    def start(self) -> None:
        """Begin to claim jobs; returns when the worker is ready."""
        database.prepare(self._engine)
        self._queue.enter(self._id)
        self._schedule.keep(starting=True)
        self._databases = present((self._settings.database_url, database.queue_url(self._settings)), self._engine)
        listening = partial(listen, self._engine, self._wake, self._ended)
        for work in (self._claim, self._keep, self._clean, listening):
            self._threads.append(threading.Thread(target=work, name="queue", daemon=True))
            self._threads[-1].start()

    def stop(self, timeout: float = 25.0) -> bool:
        """Claim no more jobs, and release those that do not end in `timeout` seconds; whether all have ended."""
        self._stopping.set()
        self._wake.set()
        # A claim that is under way is then among the running jobs.
        for claiming in self._threads[:1]:
            claiming.join(RENEW_EVERY)
        with self._changed:
            finished = self._changed.wait_for(lambda: not self._running, timeout)
        try:
            for one in [*self._running]:
                self._queue.release(one.claim)
            self._ended.set()
            for thread in self._threads:
                thread.join(RENEW_EVERY)
            self._queue.leave(self._id)
        except Exception as error:
            # The database is away. The leases will run out, and the process must end all the same.
            log.warning("the end of this worker could not be noted: %s", describe(error))
        self._ended.set()
        self._engine.dispose()
        return finished

    def _claim(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                claimed = self._claim_some()
            except Exception as error:
                log.warning("the queue is unavailable, and asked again: %s", describe(error), extra=OFTEN)
                self._stopping.wait(AGAIN_AFTER)
                continue
            if not claimed:
                self._wake.wait(LOOK_EVERY)

    def _claim_some(self) -> bool:
        """Claim jobs of each queue that has a free thread; whether it claimed any.

        One suspect job runs at a time. Beside a suspect delivery nothing else runs, so that a job that kills its worker
        takes no other with it. Other suspects run beside deliveries, since they can take hours.
        """
        with self._changed:
            free = {queue for queue, threads in self._free.items() if threads}
            busy = Counter(one.claim.installation for one in self._running if one.claim.queue == QUEUE)
            on_trial = [one.claim.queue for one in self._running if one.claim.suspect]
        if not free or QUEUE in on_trial:
            return False
        due, suspects = self._queue.due()
        if not on_trial and QUEUE in suspects:
            return not busy and self._claim_from(QUEUE, alone=True)
        if not on_trial and any(self._claim_from(queue, alone=True) for queue in sorted(suspects & free)):
            return True
        # No installation gets the last slot as well: it is reserved for a second one.
        largest = max(busy, key=busy.__getitem__, default=NOBODY)
        left = self._most - busy[largest]
        claimed = False
        for queue in due & free:
            most, but = self._free[queue], NOBODY
            if queue == QUEUE:
                most, but = (min(most, left), NOBODY) if left > 0 else (1, largest)
            claimed |= self._claim_from(queue, most, but=but)
        return claimed

    def _claim_from(self, queue: str, most: int = 1, *, alone: bool = False, but: int = NOBODY) -> bool:
        claims = self._queue.claim(queue, most, alone=alone, but=but, worker=self._id)
        longest = LONGEST if queue == QUEUE else LONGEST_BEHIND
        for claim in claims:
            one = _Running(claim, time.monotonic() + longest)
            with self._changed:
                self._free[queue] -= 1
                self._running.add(one)
            try:
                threading.Thread(target=self._run, args=(one,), name=f"job-{queue}", daemon=True).start()
            except RuntimeError:
                # The system gives no further thread. The job waits again when its lease has run out.
                self._gone(one)
                raise
        return bool(claims)

    def _run(self, one: _Running) -> None:
        one.thread = threading.get_ident()
        try:
            with held(partial(self._holds, one)):
                self._do_chore(one) if one.claim.queue == SCHEDULE else self._deliver(one)
        finally:
            self._gone(one)
            self._wake.set()

    def _gone(self, one: _Running) -> None:
        with self._changed:
            self._running.discard(one)
            self._free[one.claim.queue] += 1
            self._changed.notify_all()

    def _deliver(self, one: _Running) -> None:
        claim = one.claim
        here = Work(claim.id, attempt=claim.attempts + 1, arrived=claim.arrived)
        with working_on(here), span("job", claim.id, attempt=here.attempt) as traced:
            error = None
            try:
                self._handle(Job(claim.id, from_json(claim.payload), claim.attempts + 1, claim.arrived))
            except Exception as raised:
                error = raised
            # From here on it waits only for the queue's database, which may be away for hours.
            one.until = None
            traced.set_attribute("outcome", self._settle(one, error))

    def _settle(self, one: _Running, error: Exception | None) -> str:
        """Record how a run ended, unless another worker has the job; returns the outcome in the metric's words."""
        claim, failures, level = one.claim, one.claim.attempts + 1, logging.DEBUG
        outcome, note = "done", partial(self._queue.finish, claim)
        if isinstance(error, UserError):
            level, outcome, says = logging.INFO, "refused", f"refused: {type(error).__name__}"
        elif error is not None:
            wait = decide(error, failures, random.random())  # noqa: S311 - it only spreads the load.
            note = partial(self._queue.fail, claim, describe(error), wait)
            level, outcome, says = logging.ERROR, "dead", f"given up after {counted(failures, 'attempt')}"
            if wait is not None:
                level, outcome, says = logging.WARNING, "failed", f"failed, and is tried again in {wait:.0f} s"
        if one.lost or isinstance(error, Overtaken) or not self._steadily(note):
            level, outcome, says = logging.WARNING, "overtaken", "was taken over by another worker"
        JOBS.labels(outcome).inc()
        if level > logging.DEBUG:
            why = f"\n{stack(error)}" if error and outcome in ("dead", "failed") else ""
            log.log(level, "delivery %s %s%s", claim.id, says, why)
        return outcome

    def _do_chore(self, one: _Running) -> None:
        chore = self._schedule.chore(one.claim)
        if chore is None:
            # It belongs to another version, whose workers may run beside this one.
            self._steadily(lambda: self._queue.again(one.claim, _OF_OTHERS))
            return
        try:
            chore.do()
        except Overtaken:
            log.warning("chore %s was taken over by another worker", chore.name)
        except Exception as error:
            log.warning("chore %s failed, and is done again in its next turn\n%s", chore.name, stack(error))
        one.until = None
        self._steadily(lambda: self._schedule.again(one.claim, chore))

    def _holds(self, one: _Running) -> bool:
        """Renew the lease of a job; whether it still held. Raises QueueUnavailable."""
        with database.named_failures():
            return not one.lost and bool(self._queue.renew([one.claim.token]))

    def _steadily(self, ask: Callable[[], bool]) -> bool:
        """Ask until the database answers: a finished job must not run again because its end was not recorded."""
        while True:
            try:
                return ask()
            except Exception as error:
                log.warning("the queue is unavailable, and asked again: %s", why(error), extra=OFTEN)
                time.sleep(AGAIN_AFTER)

    def _keep(self) -> None:
        while not self._ended.wait(RENEW_EVERY):
            try:
                self._renew(time.monotonic())
                if self._databases.replaced():
                    log.error("the database is another one than before: this worker ends, to begin anew")
                    self._on_overdue()
                    return
                self._take_back()
                self._schedule.keep()
            except Exception as error:
                log.warning("the queue's upkeep failed and will be tried again: %s", describe(error), extra=OFTEN)

    def _clean(self) -> None:
        # In a thread of its own: the leases would run out while it deletes many rows.
        while not self._ended.wait(CLEAN_EVERY):
            try:
                self._queue.clean()
            except Exception as error:
                log.warning("the queue could not be cleaned, and is later: %s", describe(error), extra=OFTEN)

    def _renew(self, now: float) -> None:
        """Renew the leases of this worker and its jobs, and give up those that hang."""
        with self._changed:
            running = [*self._running]
        # Counted from the last try, since this process also runs while the database is away.
        stood, self._looked = now - self._looked, now
        if stood > 6 * RENEW_EVERY:
            # The whole process stood still, and its jobs with it.
            for one in running:
                one.until = one.until and one.until + stood
        hanging = [one for one in running if one.until is not None and one.until < now and not one.lost]
        leases = self._queue.renew([self._id, *(one.claim.token for one in running)])
        if self._id not in leases:
            self._queue.enter(self._id)
        for one in running:
            # A job that has ended meanwhile has no lease either, which no longer matters to anybody.
            one.lost = one.lost or one.claim.token not in leases
        for one in hanging:
            log.error("%s does not end, and neither does its thread: this worker ends", one.claim.id)
            self._on_overdue()
            if (chore := self._schedule.chore(one.claim)) is not None:
                self._schedule.again(one.claim, chore)
            else:
                self._settle(one, DidNotEnd(f"it did not end: {one.place()}"))
            one.lost = True

    def _take_back(self) -> None:
        """Take back the jobs of workers that are gone."""
        back = self._queue.expire()
        for job, dead in back.items():
            if dead:
                JOBS.labels("dead").inc()
            level, fate = (logging.ERROR, DIED) if dead else (logging.WARNING, "it waits again")
            log.log(level, "%s was lost: %s", job, fate)
        if back:
            self._wake.set()


# Seconds between two looks at a file: short after a change, and growing while nothing happens.
_SHORTEST, _LONGEST, _GROWTH = 0.01, 0.1, 1.05
# Seconds before the next try while the database is away, and between two looks at `ended`.
_AGAIN_AFTER = 1.0


def listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    """Set `wake` at each change until `ended`. While the database is away it wakes nobody; workers also poll."""
    watch = _watch_file if engine.dialect.name == "sqlite" else _listen
    while not ended.is_set():
        try:
            watch(engine, wake, ended)
        # SQLAlchemy, the driver and the system raise different errors here.
        except Exception as error:
            log.warning("the queue cannot tell what is new: %s", why(error), extra=OFTEN)
            ended.wait(_AGAIN_AFTER)


def _watch_file(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    with engine.connect() as connection:
        version, pause = -1, _SHORTEST
        while not ended.wait(pause):
            found = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
            connection.rollback()
            pause = _SHORTEST if found != version else min(_LONGEST, pause * _GROWTH)
            if found != version:
                version = found
                wake.set()


def _listen(engine: sa.Engine, wake: threading.Event, ended: threading.Event) -> None:
    # psycopg chooses how it waits when it is imported. In the web process, gevent must have patched that before.
    import psycopg

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        try:
            while not ended.is_set():
                for _ in driver.notifies(timeout=_AGAIN_AFTER, stop_after=1):
                    wake.set()
        finally:
            # In the pool it would go on listening.
            connection.invalidate()
