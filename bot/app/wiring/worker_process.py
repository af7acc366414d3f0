"""The worker process: its services, how it handles a job, its scheduled tasks, and how it stops."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from bot.app.wiring.clients import build_github, build_judge, now
from bot.app.wiring.evaluations import evaluate_in_child_process
from bot.app.wiring.indexes import build_index
from bot.conversation.comments import CommentWriter
from bot.conversation.marker import of_app
from bot.deliveries.events import Event, InstallationEvent, full_name
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import ScheduledTask
from bot.deliveries.worker import Job, Worker
from bot.platform.settings import Settings
from bot.platform.tracing import current, span, working_on
from bot.search.indexer import RESYNC_EVERY, Indexer
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.storage import open_store
from handlers import ROUTES
from handlers.installations import RECONCILE_EVERY, reconcile
from handlers.repositories import erased_if_ended
from handlers.router import Router
from handlers.scheduled.redelivery import RECOVER_EVERY, FailedDeliveries
from handlers.scheduled.repository_tasks import (
    DIGEST_EVERY,
    DIGEST_LATE,
    FEEDBACK_EVERY,
    poll_feedback,
    update_digests,
)
from handlers.scheduled.retention import ERASE_EVERY, TIDY_EVERY, erase_old, tidy
from handlers.services import Services

LAG = 30.0
"""For this many seconds after a delivery, GitHub's API may not show the change yet."""


def build_services(settings: Settings) -> Services:
    """The services of every handler, in a process that acts as the App."""
    settings.require_app()
    store, inbox = open_store(settings), Inbox(settings)
    index = build_index(settings, store)
    return Services(
        settings=settings,
        github=build_github(settings),
        store=store,
        repository_settings=RepositorySettings(store, now, settings.mode),
        issue_forms=IssueForms(store, now),
        comments=CommentWriter(store.comments, of_app(settings.app_id), now),
        inbox=inbox,
        index=index,
        indexing=Indexer(index, store, inbox, now),
        matcher=Matcher(index),
        clock=now,
        evaluate=evaluate_in_child_process,
        judge=build_judge(settings, store, breaker=True),
    )


def job_handler(services: Services) -> Callable[[Job], None]:
    """A function that handles a job, and erases its repository if access ends meanwhile (C6a)."""
    router = Router(ROUTES)

    def erase_if_access_ends(event: Event) -> AbstractContextManager[None]:
        if isinstance(event, InstallationEvent):
            # An installation event covers many repositories, and its handler erases them itself.
            return nullcontext()
        return erased_if_ended(event.repository.id, services.store)

    def handle(job: Job) -> None:
        name = full_name(job.event)
        with working_on(replace(current(), job=name)), span(name), erase_if_access_ends(job.event):
            just_arrived = job.attempt == 1 and 0 <= time.time() - job.arrived < LAG
            job_services = replace(services, arrived=job.arrived, delivery=job.delivery_id)
            router.dispatch(job.event, job_services, new=just_arrived)

    return handle


def scheduled_tasks(services: Services) -> tuple[ScheduledTask, ...]:
    return (
        ScheduledTask("reconcile", RECONCILE_EVERY, partial(reconcile, services)),
        ScheduledTask("look again", RESYNC_EVERY, services.indexing.resync),
        ScheduledTask("recover", RECOVER_EVERY, FailedDeliveries(services).recover, at_start=True),
        ScheduledTask("feedback", FEEDBACK_EVERY, partial(poll_feedback, services)),
        ScheduledTask("tidy", TIDY_EVERY, partial(tidy, services)),
        ScheduledTask("erase", ERASE_EVERY, partial(erase_old, services)),
        ScheduledTask("digest", DIGEST_EVERY, partial(update_digests, services), late=DIGEST_LATE),
    )


log = logging.getLogger(__name__)

# Seconds that running jobs get to end. Heroku kills a process 30 seconds after SIGTERM; closing down takes the rest.
GRACE = 25.0
# Seconds after GRACE until the process exits in any case; `doppel serve` would kill it a little later.
HARD_EXIT_AFTER_GRACE = 1.5
STOP_CHECK_SECONDS = 1.0  # between two checks for a request to stop
# The exit code for an overdue job or a replaced database. After 0, some hosts start no new worker.
OVERDUE = 70


def run_worker(settings: Settings, handle: Callable[[Job], None], tasks: Sequence[ScheduledTask] = ()) -> None:
    """Run a worker in this process until SIGTERM or SIGINT; running jobs then get 25 seconds to end.

    Call this in the main thread. If jobs are unfinished, the process exits hard: a normal exit would wait forever for
    the thread pools of the jobs' searches. The next worker takes the jobs over. The process also exits hard if a job is
    overdue, the database was replaced, or stopping takes too long.
    """
    stop, code = threading.Event(), 0

    def stop_with_error() -> None:
        nonlocal code
        code = OVERDUE
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGINT)
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    worker = Worker(settings, handle, tasks, on_overdue=stop_with_error)
    worker.start()
    log.info("worker ready: %d at a time", settings.worker_threads)
    # The system may deliver the signal to another thread, but Python runs the handler here, once this thread wakes up.
    while not stop.wait(STOP_CHECK_SECONDS):
        pass
    log.info("worker stopping")
    # A hung job may hold a lock that an orderly shutdown needs.
    hard_exit = threading.Timer(GRACE + HARD_EXIT_AFTER_GRACE, os._exit, (code,))
    hard_exit.daemon = True
    hard_exit.start()
    finished = worker.stop(GRACE)
    for number, handler in previous.items():
        signal.signal(number, handler)
    if not finished:
        log.warning("worker ends with jobs unfinished; they will be taken over")
    if code or not finished:
        logging.shutdown()
        os._exit(code)
    log.info("worker stopped")
