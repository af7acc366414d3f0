"""What a worker works with, what it does with a job, and what it does untold."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from bot.app.wiring.clients import build_github, now
from bot.app.wiring.evaluating import evaluate_apart
from bot.app.wiring.indexes import build_index
from bot.app.wiring.judging import build_judge
from bot.conversation.comments import CommentKeeper
from bot.conversation.marker import of_app
from bot.deliveries.events import Event, InstallationEvent, full_name
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import ScheduledTask
from bot.deliveries.worker import Job
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
"""Seconds after its arrival in which GitHub may not show yet what a delivery tells of. It takes a few; a worker is
there within one."""


def build_services(settings: Settings) -> Services:
    """What every handler is given, for a process that speaks as the App."""
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
        evaluate=evaluate_apart,
        judge=build_judge(settings, store),
    )


def job_handler(services: Services) -> Callable[[Job], None]:
    """What the worker does with a job: route its event to the feature that handles it.

    What a feature stores of a repository whose access ends meanwhile does not stay (C6a), whichever feature it is.
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
    """What the workers do without being told by a delivery."""
    return (
        ScheduledTask("reconcile", RECONCILE_EVERY, partial(reconcile, services)),
        ScheduledTask("look again", LOOK_EVERY, services.indexing.look_again),
        ScheduledTask("recover", RECOVER_EVERY, partial(recover, services), at_start=True),
        ScheduledTask("feedback", FEEDBACK_EVERY, partial(look_at_feedback, services)),
        ScheduledTask("tidy", TIDY_EVERY, partial(tidy, services)),
        ScheduledTask("erase", ERASE_EVERY, partial(erase_old, services)),
        ScheduledTask("digest", DIGEST_EVERY, partial(keep_digests, services), late=DIGEST_LATE),
    )
