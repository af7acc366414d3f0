"""What a worker works with, what it does with a job, and what it does untold."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from bot.calls import CallCounts
from bot.chores.digests import DIGEST_EVERY, DIGEST_LATE, keep_digests
from bot.chores.feedback import FEEDBACK_EVERY, look_at_feedback
from bot.chores.reconciliation import RECONCILE_EVERY, reconcile
from bot.chores.redelivery import RECOVER_EVERY, recover
from bot.chores.tidying import ERASE_EVERY, TIDY_EVERY, erase_old, tidy
from bot.erasing import erased_if_ended
from bot.events import Event, InstallationEvent, full_name
from bot.indexing import LOOK_EVERY, Indexing
from bot.jobs import Chore, Inbox, Job
from bot.matching import Matcher
from bot.posts.author import of_app
from bot.posts.comments import CommentKeeper
from bot.repositories.issue_forms import IssueForms
from bot.repositories.settings import RepositorySettings
from bot.router import Router
from bot.services import Services
from bot.settings import Settings
from bot.store import open_store
from bot.telemetry.metrics import CALLS
from bot.telemetry.tracing import span
from bot.telemetry.work import current, working_on
from bot.wiring.clients import build_github, now
from bot.wiring.evaluating import evaluate_apart
from bot.wiring.indexes import build_index
from bot.wiring.judging import build_judge
from handlers import ROUTES

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
        indexing=Indexing(index, store, inbox, now),
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


def chores(services: Services) -> tuple[Chore, ...]:
    """What the workers do without being told by a delivery."""
    return (
        Chore("reconcile", RECONCILE_EVERY, partial(reconcile, services)),
        Chore("look again", LOOK_EVERY, services.indexing.look_again),
        Chore("recover", RECOVER_EVERY, partial(recover, services), at_start=True),
        Chore("feedback", FEEDBACK_EVERY, partial(look_at_feedback, services)),
        Chore("tidy", TIDY_EVERY, partial(tidy, services)),
        Chore("erase", ERASE_EVERY, partial(erase_old, services)),
        Chore("digest", DIGEST_EVERY, partial(keep_digests, services), late=DIGEST_LATE),
    )
