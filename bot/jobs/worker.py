"""The worker: takes deliveries from the queue and hands them to the handlers.

Each delivery runs as a DBOS workflow. A partition (an issue, say) has one running at a time, in the order of arrival;
whose turn it is among many is decided twice, by `lanes` for what is taken and by `places` for what is begun.
What fails comes back as a new workflow after a wait, so that a waiting job occupies no thread; later jobs of its
partition step aside meanwhile, if the wait is short. A handler can be started twice for one delivery (after a kill, or
when a machine was cut off for a while), so what it does must be repeatable.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from dbos import DBOS, DBOSPortableJSONSerializer

from bot.errors import DoppelError, Overtaken
from bot.events import from_json
from bot.held import held
from bot.jobs import executors
from bot.jobs.chores import CHORE, Chore, Timetable
from bot.jobs.claims import Claims
from bot.jobs.cleanup import clean
from bot.jobs.database import (
    APPLICATION,
    BACKGROUND_QUEUE,
    QUEUE,
    REPLAY_QUEUE,
    SCHEMA,
    VERSION,
    end_as_dead,
    prepare,
    queue_client,
    queue_engine,
    queue_for,
    queue_url,
)
from bot.jobs.enqueue import WORKFLOW, bring_forward, enqueue
from bot.jobs.job import Job, Message
from bot.jobs.lanes import LANES, owner_of
from bot.jobs.measuring import measured
from bot.jobs.older import OlderJobs
from bot.jobs.orphans import Orphans
from bot.jobs.overdue import AtWork
from bot.jobs.places import Places
from bot.jobs.replaced import Files
from bot.jobs.retry import Again, Dead, Refused, decide, describe, stack
from bot.jobs.steadily import steadily
from bot.jobs.trials import Deadly, Trials
from bot.jobs.turns import Turns
from bot.settings import Settings
from bot.telemetry.metrics import JOBS

log = logging.getLogger(__name__)

# Seconds between two looks into a queue. Each costs some milliseconds of processor time, at rest too. Somebody waits
# for a comment, and nobody for background work.
POLL_EVERY = {QUEUE: 0.15, BACKGROUND_QUEUE: 0.5, REPLAY_QUEUE: 2.0}
# Jobs that a worker claims for each of its threads. With one job a thread, short jobs would leave the threads idle for
# most of the time between two looks.
CLAIMS_PER_THREAD = 3
CLEAN_EVERY = 600.0
# For so many seconds it is cleaned up between two heartbeats, and what is left then after the next: a worker that does
# not beat is taken for dead.
CLEAN_FOR = 5.0
# So often may a job be claimed without an end. Those that take their process down are given up much sooner
# (`bot.jobs.trials`); innocent ones can have been claimed beside them each time.
MOST_CRASHES = 100


class GivenUp(DoppelError):
    """Ends a workflow as a dead letter. Its message is kept and shown, so it holds no private text."""


class Worker:
    """Runs `handle` for what is in the queues: deliveries `worker_threads` at a time, one piece of background work, and
    one replay.

    One in a process: DBOS is global.
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

        `chores` are done besides, each by one of all the workers at a time. `on_overdue` is called when only
        the end of this process helps: a job does not end, after it was given up, or the database is another one.
        """
        self._settings = settings
        self._handle = handle
        self._chores = {chore.name: chore for chore in chores}
        # More than one installation has lanes, so that those of another find room.
        self._claims = LANES + CLAIMS_PER_THREAD * settings.worker_threads
        self._places = Places(settings.worker_threads)
        # DBOS's own threads need connections besides those of the jobs.
        self._engine = queue_engine(settings, pool_size=self._claims + 10)
        self._client = queue_client(self._engine)
        self._timetable = Timetable(self._client, self._engine, chores)
        self._older = OlderJobs(self._engine)
        self._claimed = Claims(self._engine)
        self._trials = Trials(self._engine)
        self._turns = Turns(self._engine)
        self._executor = executors.this_process()
        self._watch = executors.Watch()
        self._orphans = Orphans(self._engine, self._executor.id)
        self._stopping = threading.Event()
        self._at_work = AtWork()
        self._on_overdue = on_overdue
        self._keeper = threading.Thread(target=self._keep, name="queue-keeper", daemon=True)

    def start(self) -> None:
        """Begin to take work; returns when the worker is ready."""
        prepare(self._engine)
        executors.beat(self._engine, self._executor)
        _leave_out_given_up()
        dbos = DBOS(
            config={
                "name": APPLICATION,
                "application_version": VERSION,
                "executor_id": self._executor.id,
                "system_database_engine": self._engine,
                "dbos_system_schema": SCHEMA,
                "serializer": DBOSPortableJSONSerializer(),
                "run_migrations": False,
                "use_listen_notify": False,
                "notification_listener_polling_interval_sec": 0.25,
                "max_executor_threads": self._claims + 4,
                "log_level": "WARNING",
            }
        )
        self._running = dbos._active_workflows_set.activeList

        @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=MOST_CRASHES)
        def job(delivery_id: str, run: int, failures: int, arrived: int, partition: str, text: str) -> str:
            message = Message.restored(delivery_id, run, failures, arrived, partition, text)
            background = queue_for(partition) != QUEUE
            place = nullcontext() if background else self._places.one_for(owner_of(message.lane))
            with self._claimed.kept(message.workflow_id), place:
                return self._fairly(message)

        @DBOS.workflow(name=CHORE, max_recovery_attempts=MOST_CRASHES)
        def chore(name: str) -> str:
            run = DBOS.workflow_id
            assert run is not None, "it is running"
            # Without a place: it waits for GitHub most of the time, and no delivery shall wait for it.
            with self._claimed.kept(run):
                return self._do_chore(name, run)

        # Before the launch, because DBOS looks for new queues only every second.
        for queue, at_once in ((QUEUE, self._claims), (BACKGROUND_QUEUE, 1), (REPLAY_QUEUE, 1)):
            self._client.register_queue(
                queue, partition_concurrency=1, worker_concurrency=at_once, polling_interval_sec=POLL_EVERY[queue]
            )
        DBOS.launch()
        self._unbegun = dbos._executor._work_queue.qsize
        self._take_over()
        self._timetable.begin(self._executor.id)
        self._keeper.start()

    def stop(self, timeout: float = 25.0) -> bool:
        """Take no more work and give the running jobs `timeout` seconds to end; whether all of them did.

        What is left runs on in its thread, but counts no more: another worker takes it over.
        """
        self._stopping.set()
        # What has been claimed and not begun goes back into the queue now, for other workers.
        self._places.close()
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=max(1, int(timeout)))
        self._keeper.join(executors.BEAT_EVERY)
        try:
            self._trials.cut_off()
            executors.leave(self._engine, self._executor)
        except Exception as error:
            # Its database is away. The others notice by its heartbeat, and it has to end all the same.
            log.warning("the end of this worker could not be noted: %s", describe(error))
        self._engine.dispose()
        return not len(self._at_work)

    def _fairly(self, message: Message) -> str:
        """One run of a delivery, alone where a worker has died of it or of another beside it."""
        run = message.workflow_id
        claims = self._claimed.times(run)
        if claims is None:
            # This machine stood still after it had claimed the job. What is not begun nobody else counts.
            JOBS.labels("overtaken").inc()
            log.warning("delivery %s is another worker's by now", message.delivery_id)
            return "overtaken"
        try:
            behind = queue_for(message.partition) != QUEUE
            with self._trials.fair(run, claims, behind=behind), held(self._claimed.asked(run)):
                return self._work(message)
        except Deadly as reason:
            JOBS.labels("dead").inc()
            log.error("delivery %s given up: %s", message.delivery_id, reason)
            raise GivenUp(str(reason)) from None

    @measured
    def _work(self, message: Message) -> str:
        """One run of a delivery; what it returns is kept as the workflow's result."""
        wait: float | None = 0.0
        if not self._stopping.is_set():
            wait = steadily(lambda: self._older.wait(message))
        if wait is not None:
            self._enqueue(message.again(message.failures), wait)
            return "stepped aside"
        attempt = message.failures + 1
        with self._at_work.job(message, self._claimed.asked(message.workflow_id)) as running:
            try:
                self._handle(Job(message.delivery_id, from_json(message.text), attempt, message.arrived / 1000))
            except Exception as error:
                running.may_take_longer()
                # What a machine was at when it stood still fails as a rule, and whoever has the job now tries again.
                if isinstance(error, Overtaken) or self._claimed.times(message.workflow_id) is None:
                    log.warning("delivery %s was taken over by another worker", message.delivery_id)
                    return "overtaken"
                return self._failed(message, error, attempt)
        return "done"

    def _do_chore(self, name: str, run: str) -> str:
        """One turn of a chore; what it returns is kept as the workflow's result."""
        chore = self._chores.get(name)
        if chore is None:
            return "unknown"
        claims = self._claimed.times(run)
        if claims is None:
            return "overtaken"
        try:
            # One that takes its worker down would else do so at each start, and deliveries beside it be blamed.
            with self._trials.fair(run, claims, behind=True), self._at_work.chore(name), held(self._claimed.asked(run)):
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

    def _failed(self, message: Message, error: Exception, failures: int) -> str:
        # The chance only spreads the load.
        decision = decide(error, failures, random.random())  # noqa: S311
        match decision:
            case Refused():
                log.info("delivery %s refused: %s", message.delivery_id, type(error).__name__)
                return "refused"
            case Again(wait):
                log.warning(
                    "delivery %s failed, attempt %d, again in %.0f s\n%s",
                    message.delivery_id,
                    failures,
                    wait,
                    stack(error),
                )
                self._enqueue(message.again(failures), wait)
                return "failed"
            case Dead():
                log.error("delivery %s given up after %d attempts\n%s", message.delivery_id, failures, stack(error))
                # Without the chain, which DBOS would log with the texts of all its exceptions.
                raise GivenUp(describe(error)) from None

    def _give_up_overdue(self) -> None:
        """Count what does not end as failed, so that its lane is free and it is tried again, and have us ended."""
        for one in self._at_work.overdue():
            where = one.stack()
            log.error("%s does not end: it is given up, and this worker ends\n  %s", one.name, "\n  ".join(where))
            try:
                # A process that stood still finds overdue what another worker has done since, or is at.
                if one.message is not None and one.ours():
                    self._settle(one.message, f"it did not end, and was at {where[-1] if where else 'its end'}")
            except Exception as error:
                # Whoever takes over then takes it for what killed this worker, which is near the truth.
                log.warning("%s could not be given up: %s", one.name, describe(error))
            self._on_overdue()

    def _settle(self, message: Message, reason: str) -> None:
        """What `_failed` does, for a run that cannot do it itself."""
        failures = message.failures + 1
        match decide(GivenUp(reason), failures, random.random()):  # noqa: S311
            case Again(wait):
                later = message.again(failures)
                enqueue(self._client, self._engine, later, wait, instead_of=message.workflow_id)
                JOBS.labels("failed").inc()
            case _:
                end_as_dead(self._client, message.workflow_id, GivenUp(reason))
                JOBS.labels("dead").inc()
        self._trials.end(message.workflow_id)

    def _enqueue(self, message: Message, delay: float) -> None:
        """Put the next run into the queue."""
        steadily(lambda: enqueue(self._client, self._engine, message, delay))

    def _take_over(self) -> None:
        """Give the work of dead workers back to the queue."""
        dead = executors.find_dead(self._engine, self._executor, self._watch)
        if dead:
            log.warning("taking over the work of %d dead worker%s", len(dead), "" if len(dead) == 1 else "s")
            DBOS._recover_pending_workflows(dead)

    def _keep(self) -> None:
        """The heartbeat, taking over, giving back, chores, turns, and cleaning up."""
        cleaned = beaten = time.monotonic()
        files = Files((self._settings.database_url, queue_url(self._settings)))
        while not self._stopping.wait(executors.BEAT_EVERY):
            try:
                self._give_up_overdue()
                if files.replaced():
                    log.error("the database's file was replaced or taken away: this worker ends, to begin anew")
                    self._on_overdue()
                    return
                executors.beat(self._engine, self._executor)
                now = time.monotonic()
                # Whoever was cut off from the database must first let the others beat again.
                if now - beaten > executors.DEAD_AFTER / 2:
                    self._watch.forget()
                beaten = now
                self._take_over()
                self._orphans.give_back(self._running, self._unbegun)
                bring_forward(self._engine, time.time())
                self._turns.deal()
                self._timetable.call()
                if now - cleaned >= CLEAN_EVERY:
                    cleaned = now
                    if not clean(self._engine, time.time(), CLEAN_FOR):
                        cleaned -= CLEAN_EVERY
            except Exception as error:
                log.warning("the queue's upkeep failed and will be tried again: %s", describe(error))


class _NotGivenUp(logging.Filter):
    """Leaves out what DBOS says of a given-up job, since the worker has said it, and without private text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], GivenUp))


def _leave_out_given_up() -> None:
    logger = logging.getLogger("dbos")
    if not any(isinstance(one, _NotGivenUp) for one in logger.filters):
        logger.addFilter(_NotGivenUp())
