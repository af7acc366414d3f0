"""What each worker does for the queue every few seconds, in a thread of its own, beside the jobs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import sqlalchemy as sa
from dbos import DBOS

from bot.counted import counted
from bot.jobs.fairness.turns import Turns
from bot.jobs.queue.chores import Timetable
from bot.jobs.queue.cleanup import clean
from bot.jobs.queue.enqueue import bring_forward
from bot.jobs.recovery import executors
from bot.jobs.recovery.executors import Executor
from bot.jobs.recovery.replaced import Replaceable
from bot.jobs.running.retry import describe

log = logging.getLogger(__name__)

CLEAN_EVERY = 600.0
# For so many seconds it is cleaned up between two heartbeats, and what is left then after the next: a worker that does
# not beat is taken for dead.
CLEAN_FOR = 5.0


class Upkeep:
    """The heartbeat, taking over, giving back, chores, turns, and cleaning up."""

    def __init__(
        self,
        engine: sa.Engine,
        executor: Executor,
        timetable: Timetable,
        databases: Replaceable,
        *,
        give_up_overdue: Callable[[], None],
        give_back_orphans: Callable[[], object],
        on_replaced: Callable[[], None],
    ) -> None:
        """`databases` are those that this process uses; `on_replaced` is called where they are others."""
        self._engine = engine
        self._executor = executor
        self._timetable = timetable
        self._databases = databases
        self._give_up_overdue = give_up_overdue
        self._give_back_orphans = give_back_orphans
        self._on_replaced = on_replaced
        self._watch = executors.Watch()
        self._turns = Turns(engine)
        self._stopping = threading.Event()
        self._cleaned = self._beaten = time.monotonic()
        self._thread = threading.Thread(target=self._keep, name="queue-keeper", daemon=True)

    def begin(self) -> None:
        """Take over and call for the chores at once, and go on in the thread. DBOS runs by now."""
        self._take_over()
        self._timetable.begin(self._executor.id)
        self._thread.start()

    def stop(self) -> None:
        """Let this round be the last."""
        self._stopping.set()

    def join(self) -> None:
        """Wait for the end of the last round, as long as one takes."""
        self._thread.join(executors.BEAT_EVERY)

    def _keep(self) -> None:
        while not self._stopping.wait(executors.BEAT_EVERY):
            try:
                self._give_up_overdue()
                if self._databases.replaced():
                    log.error("the database is another one than before: this worker ends, to begin anew")
                    self._on_replaced()
                    return
                self._beat()
                self._take_over()
                self._give_back_orphans()
                bring_forward(self._engine, time.time())
                self._turns.deal()
                self._timetable.call()
                self._clean_up()
            except Exception as error:
                log.warning("the queue's upkeep failed and will be tried again: %s", describe(error))

    def _beat(self) -> None:
        executors.beat(self._engine, self._executor)
        now = time.monotonic()
        # Whoever was cut off from the database must first let the others beat again.
        if now - self._beaten > executors.DEAD_AFTER / 2:
            self._watch.forget()
        self._beaten = now

    def _take_over(self) -> None:
        """Give the work of dead workers back to the queue."""
        dead = executors.find_dead(self._engine, self._executor, self._watch)
        if dead:
            log.warning("taking over the work of %s", counted(len(dead), "dead worker"))
            DBOS._recover_pending_workflows(dead)

    def _clean_up(self) -> None:
        now = time.monotonic()
        if now - self._cleaned >= CLEAN_EVERY:
            # Before it is done: what fails after a long wait for a lock would else keep this worker from beating again.
            self._cleaned = now
            if not clean(self._engine, time.time(), CLEAN_FOR):
                # What is left is not kept waiting for as long again.
                self._cleaned -= CLEAN_EVERY
