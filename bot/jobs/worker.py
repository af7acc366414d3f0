"""The worker: takes deliveries from the queue and hands them to the handlers.

Each delivery runs as a DBOS workflow. A partition (an issue, say) has one running at a time, in the order of arrival;
whose turn it is among many is decided twice, by `fairness.lanes` for what is taken and by `fairness.places` for what is
begun. What fails comes back as a new workflow after a wait; later jobs of its partition step aside meanwhile, if the
wait is short. What a run does is in `running.runs`, and what is looked after beside it in `upkeep`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from dbos import DBOS, DBOSPortableJSONSerializer

from bot.jobs.fairness.lanes import LANES, restored
from bot.jobs.queue.chores import CHORE, Chore, Timetable
from bot.jobs.queue.database import (
    APPLICATION,
    BACKGROUND_QUEUE,
    QUEUE,
    REPLAY_QUEUE,
    SCHEMA,
    VERSION,
    prepare,
    queue_client,
    queue_engine,
)
from bot.jobs.queue.enqueue import WORKFLOW
from bot.jobs.queue.job import Job
from bot.jobs.recovery import executors
from bot.jobs.recovery.orphans import Orphans
from bot.jobs.recovery.replaced import present
from bot.jobs.running.given_up import leave_out_given_up
from bot.jobs.running.retry import describe
from bot.jobs.running.runs import Runs
from bot.jobs.upkeep import Upkeep
from bot.settings import Settings

log = logging.getLogger(__name__)

# Seconds between two looks into a queue. Each costs some milliseconds of processor time, at rest too. Somebody waits
# for a comment, and nobody for background work.
POLL_EVERY = {QUEUE: 0.15, BACKGROUND_QUEUE: 0.5, REPLAY_QUEUE: 2.0}
# Jobs that a worker claims for each of its threads. With one job a thread, short jobs would leave the threads idle for
# most of the time between two looks.
CLAIMS_PER_THREAD = 3
# So often may a job be claimed without an end. Those that take their process down are given up much sooner
# (`bot.jobs.recovery.trials`); innocent ones can have been claimed beside them each time.
MOST_CRASHES = 100


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
        self._on_overdue = on_overdue
        # More than one installation has lanes, so that those of another find room.
        self._claims = LANES + CLAIMS_PER_THREAD * settings.worker_threads
        # DBOS's own threads need connections besides those of the jobs.
        self._engine = queue_engine(settings, pool_size=self._claims + 10)
        self._client = queue_client(self._engine)
        self._executor = executors.this_process()
        self._timetable = Timetable(self._client, self._engine, chores)
        self._runs = Runs(self._engine, self._client, settings.worker_threads, handle, chores)

    def start(self) -> None:
        """Begin to take work; returns when the worker is ready."""
        prepare(self._engine)
        executors.beat(self._engine, self._executor)
        leave_out_given_up()
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
            return self._runs.deliver(restored(delivery_id, run, failures, arrived, partition, text))

        @DBOS.workflow(name=CHORE, max_recovery_attempts=MOST_CRASHES)
        def chore(name: str) -> str:
            run = DBOS.workflow_id
            assert run is not None, "it is running"
            return self._runs.do_chore(name, run)

        # Before the launch, because DBOS looks for new queues only every second.
        for queue, at_once in ((QUEUE, self._claims), (BACKGROUND_QUEUE, 1), (REPLAY_QUEUE, 1)):
            self._client.register_queue(
                queue, partition_concurrency=1, worker_concurrency=at_once, polling_interval_sec=POLL_EVERY[queue]
            )
        DBOS.launch()
        self._unbegun = dbos._executor._work_queue.qsize
        orphans = Orphans(self._engine, self._executor.id)
        self._upkeep = Upkeep(
            self._engine,
            self._executor,
            self._timetable,
            present(self._settings, self._engine),
            give_up_overdue=partial(self._runs.give_up_overdue, self._on_overdue),
            give_back_orphans=partial(orphans.give_back, self._running, self._unbegun),
            on_replaced=self._on_overdue,
        )
        self._upkeep.begin()

    def stop(self, timeout: float = 25.0) -> bool:
        """Take no more work and give the running jobs `timeout` seconds to end; whether all of them did.

        What is left runs on in its thread, but counts no more: another worker takes it over.
        """
        self._upkeep.stop()
        self._runs.begin_no_more()
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=max(1, int(timeout)))
        self._upkeep.join()
        try:
            self._runs.cut_off()
            executors.leave(self._engine, self._executor)
        except Exception as error:
            # Its database is away. The others notice by its heartbeat, and it has to end all the same.
            log.warning("the end of this worker could not be noted: %s", describe(error))
        self._engine.dispose()
        return not len(self._runs)
