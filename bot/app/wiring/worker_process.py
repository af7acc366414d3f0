"""The worker process: what it works with, what it does with a job, its chores, and its end."""

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
from bot.conversation.comments import CommentKeeper
from bot.conversation.marker import of_app
from bot.deliveries.events import Event, InstallationEvent, full_name
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import ScheduledTask
from bot.deliveries.worker import Job, Worker
from bot.platform.call_tracker import CallCounts
from bot.platform.metrics import CALLS
from bot.platform.settings import Settings
from bot.platform.tracing import current, span, working_on
from bot.search.indexer import LOOK_EVERY, Indexer
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.storage import open_store
from handlers import ROUTES
from handlers.repositories import erased_if_ended
from handlers.router import Router
from handlers.scheduled.reconciliation import RECONCILE_EVERY, reconcile
from handlers.scheduled.redelivery import RECOVER_EVERY, recover
from handlers.scheduled.repository_tasks import (
    DIGEST_EVERY,
    DIGEST_LATE,
    FEEDBACK_EVERY,
    keep_digests,
    look_at_feedback,
)
from handlers.scheduled.retention import ERASE_EVERY, TIDY_EVERY, erase_old, tidy
from handlers.services import Services

LAG = 30.0
"""Seconds after a delivery in which GitHub's API may lag behind it."""


def build_services(settings: Settings) -> Services:
    """What every handler is given, in a process that speaks as the App."""
    settings.require_app()
    store, inbox = open_store(settings), Inbox(settings)
    index = build_index(settings, store)
    return Services(
        settings=settings,
        github=build_github(settings),
        store=store,
        repository_settings=RepositorySettings(store, now, settings.mode),
        issue_forms=IssueForms(store, now),
        comments=CommentKeeper(store.comments, of_app(settings.app_id), now),
        inbox=inbox,
        index=index,
        indexing=Indexer(index, store, inbox, now),
        matcher=Matcher(index),
        clock=now,
        evaluate=evaluate_in_child_process,
        judge=build_judge(settings, store),
    )


def job_handler(services: Services) -> Callable[[Job], None]:
    """Routes a job's event to the feature that handles it.

    Nothing stays stored of a repository whose access ends meanwhile (C6a).
    """
    router = Router(ROUTES)
    counts = CallCounts(services.github.tracker, lambda tool, who, times: CALLS.labels(tool, who).inc(times))

    def clean(event: Event) -> AbstractContextManager[None]:
        if isinstance(event, InstallationEvent):
            # It is of many repositories, and erases by itself.
            return nullcontext()
        return erased_if_ended(event.repository.id, services.store)

    def handle(job: Job) -> None:
        name = full_name(job.event)
        with working_on(replace(current(), job=name)), span(name), clean(job.event):
            new = job.attempt == 1 and 0 <= time.time() - job.arrived < LAG
            try:
                here = replace(services, arrived=job.arrived, delivery=job.delivery_id)
                router.dispatch(job.event, here, new=new)
            finally:
                counts.flush()

    return handle


def scheduled_tasks(services: Services) -> tuple[ScheduledTask, ...]:
    """The workers' scheduled work."""
    return (
        ScheduledTask("reconcile", RECONCILE_EVERY, partial(reconcile, services)),
        ScheduledTask("look again", LOOK_EVERY, services.indexing.look_again),
        ScheduledTask("recover", RECOVER_EVERY, partial(recover, services), at_start=True),
        ScheduledTask("feedback", FEEDBACK_EVERY, partial(look_at_feedback, services)),
        ScheduledTask("tidy", TIDY_EVERY, partial(tidy, services)),
        ScheduledTask("erase", ERASE_EVERY, partial(erase_old, services)),
        ScheduledTask("digest", DIGEST_EVERY, partial(keep_digests, services), late=DIGEST_LATE),
    )


log = logging.getLogger(__name__)

# Heroku kills a process thirty seconds after SIGTERM; the rest is for closing down.
GRACE = 25.0
# More seconds until it ends in any case; `doppel serve` kills it a little later.
REST = 1.5
# Seconds between two looks at whether somebody has asked for the end.
STOP_CHECK_SECONDS = 1.0
# The exit code for an overdue job; after 0 some hosts would not start the worker again.
OVERDUE = 70


def run_worker(settings: Settings, handle: Callable[[Job], None], chores: Sequence[ScheduledTask] = ()) -> None:
    """Run a worker in this process until SIGTERM or SIGINT; running jobs then get 25 seconds to end.

    Call it in the main thread. Unfinished jobs are left to the next worker: the process ends without them, since Python
    would wait for their threads forever. The same happens if a job is overdue, and soon after those 25 seconds in any
    case.
    """
    stop, code = threading.Event(), 0

    def on_overdue() -> None:
        nonlocal code
        code = OVERDUE
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGINT)
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    worker = Worker(settings, handle, chores, on_overdue=on_overdue)
    worker.start()
    log.info("worker ready: %d at a time", settings.worker_threads)
    # Python runs a signal's handler in this thread, and only when it wakes: the system may give the signal to another.
    while not stop.wait(STOP_CHECK_SECONDS):
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
