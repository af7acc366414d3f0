"""The worker: claims jobs from the queue and hands them to the handlers, each in a thread.

One thread claims for all (`_claim`), whenever a thread is free and something may be there. Another renews the leases of
what runs, and looks after the queue (`_keep`). A handler can be started twice for one delivery (after a kill, or when a
machine stood still for a while), so what it does must be repeatable; and before each write to GitHub it makes sure that
it still holds the job (`bot.at_work`).
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

from bot.at_work import held
from bot.counted import counted
from bot.errors import DidNotEnd, Overtaken
from bot.events import Event, from_json
from bot.jobs.database import (
    BACKGROUND_QUEUE,
    QUEUE,
    REPLAY_QUEUE,
    SCHEDULE,
    named_failures,
    prepare,
    queue_engine,
    queue_url,
)
from bot.jobs.queue import LEASE, NOBODY, Claim, Queue
from bot.jobs.retry import DIED, Again, Dead, Refused, decide
from bot.jobs.schedule import Chore, Schedule
from bot.jobs.wake import listen
from bot.settings import Settings
from bot.store.database.failures import why
from bot.store.database.replaced import present
from bot.telemetry.errors import describe, stack
from bot.telemetry.logs import OFTEN
from bot.telemetry.metrics import JOBS
from bot.telemetry.tracing import span
from bot.telemetry.work import Work, working_on

log = logging.getLogger(__name__)

RENEW_EVERY = LEASE / 6
"""Seconds between two rounds of upkeep."""

LOOK_EVERY = 0.5
"""Seconds after which a worker looks for jobs that are due by now, also where nobody has woken it."""

CLEAN_EVERY = 600.0

LONGEST, LONGEST_BEHIND = 900.0, 6 * 3600.0
"""Seconds after which a job is taken to hang: a delivery, whose every call to GitHub is bounded by half a minute; and
work for which nobody waits, such as a replay of a repository's past."""

AGAIN_AFTER = 1.0
"""Seconds after which a database that was away is asked again."""

# Seconds after which a chore that this version has not is offered again.
_OF_OTHERS = 60.0


@dataclass(frozen=True, slots=True)
class Job:
    """One delivery as handlers see it.

    `attempt` counts from 1, and one more for each time the handler raised. The first attempt can be a second one all
    the same: a job whose worker was killed begins again without a count. `arrived` is when the delivery was accepted,
    in seconds since 1970.
    """

    delivery_id: str
    event: Event
    attempt: int
    arrived: float


@dataclass(eq=False, slots=True)
class _Running:
    """A job in its thread. `until` is when it is taken to hang, by the monotonic clock; None while it is ending."""

    claim: Claim
    until: float | None
    thread: int = 0
    lost: bool = False

    def place(self) -> str:
        """Where it is now, without any values."""
        frame = sys._current_frames().get(self.thread)
        frames = traceback.extract_stack(frame)[-3:] if frame else []
        return "; ".join(f"{one.filename}:{one.lineno} in {one.name}" for one in frames)


class Worker:
    """Runs `handle` for what is in the queue: deliveries `worker_threads` at a time, one piece of background work, one
    replay, and each chore beside them. One place more for deliveries is for a second installation.
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

        `chores` are done besides, each by one of all the workers at a time. `on_overdue` is called when only the end of
        this process helps: a job hangs, or the database is another one.
        """
        self._settings = settings
        self._handle = handle
        self._on_overdue = on_overdue
        self._most = settings.worker_threads
        self._free = {QUEUE: self._most + 1, BACKGROUND_QUEUE: 1, REPLAY_QUEUE: 1, SCHEDULE: len(chores)}
        self._engine = queue_engine(settings, pool_size=self._most + 12)
        self._queue = Queue(self._engine)
        self._schedule = Schedule(self._queue, chores)
        self._id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._changed = threading.Condition()
        self._running: set[_Running] = set()
        self._wake, self._stopping, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._looked = time.monotonic()

    def start(self) -> None:
        """Begin to take work; returns when the worker is ready."""
        prepare(self._engine)
        self._queue.enter(self._id)
        self._schedule.keep(starting=True)
        self._databases = present((self._settings.database_url, queue_url(self._settings)), self._engine)
        listening = partial(listen, self._engine, self._wake, self._ended)
        for work in (self._claim, self._keep, self._clean, listening):
            self._threads.append(threading.Thread(target=work, name="queue", daemon=True))
            self._threads[-1].start()

    def stop(self, timeout: float = 25.0) -> bool:
        """Take no more work and give the running jobs `timeout` seconds to end; whether all of them did.

        What is left runs on in its thread, but counts no more: another worker takes it over.
        """
        self._stopping.set()
        self._wake.set()
        # What it is claiming just now is let go as well.
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
            # Its database is away. The leases run out, and the process has to end all the same.
            log.warning("the end of this worker could not be noted: %s", describe(error))
        self._ended.set()
        self._engine.dispose()
        return finished

    def _claim(self) -> None:
        """Claim as long as threads are free and jobs wait; then wait to be woken."""
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
        """Claim a job of each queue that has a free thread; whether any was claimed.

        Of suspects one runs at a time. Beside a delivery that is one nothing is begun, and no other delivery runs: what
        kills its worker takes no other with it. Others go beside deliveries, since they can last for hours: whatever
        dies with them is then suspected, but runs alone before it is given up.
        """
        with self._changed:
            free = {queue for queue, threads in self._free.items() if threads}
            held = Counter(one.claim.installation for one in self._running if one.claim.queue == QUEUE)
            tried = [one.claim.queue for one in self._running if one.claim.suspect]
        if not free or QUEUE in tried:
            return False
        due, suspects = self._queue.due()
        if not tried and QUEUE in suspects:
            return not held and self._claim_from(QUEUE, alone=True)
        if not tried and any(self._claim_from(queue, alone=True) for queue in sorted(suspects & free)):
            return True
        # None has the last place too: that is for a second installation.
        largest = max(held, key=held.__getitem__, default=NOBODY)
        left = self._most - held[largest]
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
                # The system gives no further thread. What was claimed waits again when its lease has run out.
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
        """Its thread is free again."""
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
            # From here on it waits for the queue's database alone, which may be away for hours.
            one.until = None
            traced.set_attribute("outcome", self._settle(one, error))

    def _settle(self, one: _Running, error: Exception | None) -> str:
        """Note how a run ended, unless the job is another's by now; in the words of the metric."""
        claim, failures, level = one.claim, one.claim.attempts + 1, logging.DEBUG
        outcome, note = "done", partial(self._queue.finish, claim)
        if error is not None:
            # The chance only spreads the load.
            match decide(error, failures, random.random()):  # noqa: S311
                case Refused():
                    level, outcome, says = logging.INFO, "refused", f"refused: {type(error).__name__}"
                case Dead():
                    note = partial(self._queue.fail, claim, describe(error), None)
                    level, outcome, says = logging.ERROR, "dead", f"given up after {counted(failures, 'attempt')}"
                case Again(wait):
                    note = partial(self._queue.fail, claim, describe(error), wait)
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
            # Of another version, whose workers may run beside this one.
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
        """Whether a job is still this worker's; renews its lease. Raises QueueUnavailable."""
        if one.lost:
            return False
        with named_failures():
            return bool(self._queue.renew([one.claim.token]))

    def _steadily(self, ask: Callable[[], bool]) -> bool:
        """Ask until the database answers: a job that has been done must not be done again for want of its end."""
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
        """In a thread of its own: where much is to go, the leases would run out meanwhile."""
        while not self._ended.wait(CLEAN_EVERY):
            try:
                self._queue.clean()
            except Exception as error:
                log.warning("the queue could not be cleaned, and is later: %s", describe(error), extra=OFTEN)

    def _renew(self, now: float) -> None:
        """Renew the leases of what runs and does not hang."""
        with self._changed:
            running = [*self._running]
        # Counted from the last try: while the database is away this process goes on all the same.
        stood, self._looked = now - self._looked, now
        if stood > 6 * RENEW_EVERY:
            # The whole process stood still, and no job of it could go on.
            for one in running:
                one.until = one.until and one.until + stood
        hanging = [one for one in running if one.until is not None and one.until < now and not one.lost]
        held = self._queue.renew([self._id, *(one.claim.token for one in running)])
        if self._id not in held:
            self._queue.enter(self._id)
        for one in running:
            # What has ended meanwhile holds no lease either, and nobody asks it any more.
            one.lost = one.lost or one.claim.token not in held
        for one in hanging:
            log.error("%s does not end, and neither does its thread: this worker ends", one.claim.id)
            self._on_overdue()
            if (chore := self._schedule.chore(one.claim)) is not None:
                self._schedule.again(one.claim, chore)
            else:
                self._settle(one, DidNotEnd(f"it did not end: {one.place()}"))
            one.lost = True

    def _take_back(self) -> None:
        """Let others' jobs wait again whose leases have run out."""
        back = self._queue.expire()
        for job, dead in back.items():
            log.log(
                logging.ERROR if dead else logging.WARNING, "%s was lost: %s", job, DIED if dead else "it waits again"
            )
            if dead:
                JOBS.labels("dead").inc()
        if back:
            self._wake.set()
