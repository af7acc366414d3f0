"""One run of what was taken from the queue: of a delivery, or of a chore.

A handler can be started twice for one delivery (after a kill, or when a machine was cut off for a while), so what it
does must be repeatable.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext

import sqlalchemy as sa
from dbos import DBOSClient

from bot.at_work import held
from bot.errors import Overtaken
from bot.events import from_json
from bot.jobs.fairness.lanes import owner_of
from bot.jobs.fairness.older import OlderJobs
from bot.jobs.fairness.places import Places
from bot.jobs.queue.chores import Chore
from bot.jobs.queue.database import QUEUE, queue_for
from bot.jobs.queue.job import Job, Message
from bot.jobs.queue.steadily import steadily
from bot.jobs.recovery.claims import Claims
from bot.jobs.recovery.overdue import AtWork
from bot.jobs.recovery.trials import Deadly, Trials
from bot.jobs.running.given_up import GivenUp
from bot.jobs.running.measuring import measured
from bot.jobs.running.next_run import NextRun
from bot.jobs.running.retry import describe, stack
from bot.telemetry.metrics import JOBS

log = logging.getLogger(__name__)


class Runs:
    """The runs of one worker process, each in the thread that calls for it. Their number is of those under way."""

    def __init__(
        self,
        engine: sa.Engine,
        client: DBOSClient,
        threads: int,
        handle: Callable[[Job], None],
        chores: Iterable[Chore],
    ) -> None:
        """`threads` is how many deliveries are worked on at a time; see `Worker` for `handle` and `chores`."""
        self._places = Places(threads)
        self._handle = handle
        self._chores = {chore.name: chore for chore in chores}
        self._stopping = threading.Event()
        self._older = OlderJobs(engine)
        self._claims = Claims(engine)
        self._trials = Trials(engine)
        self._at_work = AtWork()
        self._next = NextRun(engine, client)

    def __len__(self) -> int:
        return len(self._at_work)

    def deliver(self, message: Message) -> str:
        """One run of a delivery, when there is a place for it; what it returns is kept as the workflow's result.

        Raises GivenUp for what becomes a dead letter, and Lost for what is another worker's by now.
        """
        background = queue_for(message.partition) != QUEUE
        place = nullcontext() if background else self._places.one_for(owner_of(message.lane))
        with self._claims.kept(message.workflow_id), place:
            try:
                with self._fairly(message.workflow_id, behind=background):
                    return self._work(message)
            except Overtaken:
                # This machine stood still after it had claimed the job. What is not begun nobody else counts.
                JOBS.labels("overtaken").inc()
                log.warning("delivery %s is another worker's by now", message.delivery_id)
                return "overtaken"
            except Deadly as reason:
                JOBS.labels("dead").inc()
                log.error("delivery %s given up: %s", message.delivery_id, reason)
                raise GivenUp(str(reason)) from None

    def do_chore(self, name: str, run: str) -> str:
        """One turn of a chore; what it returns is kept as the workflow's result. Raises Lost as `deliver` does.

        Without a place: it waits for GitHub most of the time, and no delivery shall wait for it.
        """
        chore = self._chores.get(name)
        with self._claims.kept(run):
            if chore is None:
                return "unknown"
            try:
                # One that takes its worker down would else do so at each start, and deliveries beside it be blamed.
                with self._fairly(run, behind=True), self._at_work.chore(name):
                    chore.do()
            except Deadly as reason:
                log.error("chore %s is left out until its next turn: %s", name, reason)
                return "failed"
            except Overtaken:
                log.warning("chore %s was taken over by another worker", name)
                return "overtaken"
            except Exception as error:
                log.warning("chore %s failed, and is done again in its next turn\n%s", name, stack(error))
                return "failed"
            return "done"

    def give_up_overdue(self, end: Callable[[], None]) -> None:
        """Count what does not end as failed, so that its lane is free and it is tried again, and `end` this worker."""
        for one in self._at_work.overdue():
            where = one.stack()
            log.error("%s does not end: it is given up, and this worker ends\n  %s", one.name, "\n  ".join(where))
            try:
                # A process that stood still finds overdue what another worker has done since, or is at.
                if one.message is not None and one.ours():
                    reason = f"it did not end, and was at {where[-1] if where else 'its end'}"
                    self._next.after_hanging(one.message, reason)
                    self._trials.end(one.message.workflow_id)
            except Exception as error:
                # Whoever takes over then takes it for what killed this worker, which is near the truth.
                log.warning("%s could not be given up: %s", one.name, describe(error))
            end()

    def begin_no_more(self) -> None:
        """What has been claimed and not begun goes back into the queue from here on, for other workers."""
        self._stopping.set()
        self._places.close()

    def cut_off(self) -> None:
        """Leave what is still under way to other workers. Raises where the database is away."""
        self._trials.cut_off()

    @contextmanager
    def _fairly(self, run: str, *, behind: bool) -> Iterator[None]:
        """Beside others, or alone if a worker has died of it or of another beside it; and only as long as it is ours.

        Raises Overtaken where it is not from the beginning, and Deadly.
        """
        claims = self._claims.times(run)
        if claims is None:
            raise Overtaken("another worker has it by now")
        with self._trials.fair(run, claims, behind=behind), held(self._claims.asked(run)):
            yield

    @measured
    def _work(self, message: Message) -> str:
        wait: float | None = 0.0
        if not self._stopping.is_set():
            wait = steadily(lambda: self._older.wait(message))
        if wait is not None:
            return self._next.after_stepping_aside(message, wait)
        attempt = message.failures + 1
        with self._at_work.job(message, self._claims.asked(message.workflow_id)) as running:
            try:
                self._handle(Job(message.delivery_id, from_json(message.text), attempt, message.arrived / 1000))
            except Exception as error:
                running.may_take_longer()
                # What a machine was at when it stood still fails as a rule, and whoever has the job now tries again.
                if isinstance(error, Overtaken) or self._claims.times(message.workflow_id) is None:
                    log.warning("delivery %s was taken over by another worker", message.delivery_id)
                    return "overtaken"
                return self._next.after_error(message, error)
        return "done"
