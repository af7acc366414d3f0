"""Filling a repository's index, in steps that `bot.search.indexer` queues; and what came meanwhile: once the index is
complete, what nothing was found for is looked at again.

GitHub's search, which answers until then, finds less and speaks more seldom. Whoever installs the bot and tries it in
these minutes would have no answer ever, though the index has it. A comment that names something is left as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bot.deliveries.events import INDEXED, IndexEvent, own_issue_event
from bot.domain.decisions import Decision, Outcome
from bot.domain.entities import Repository
from bot.domain.errors import Forbidden, NotFound
from bot.storage.repositories import OFF
from handlers import recalling
from handlers.services import Services
from handlers.visit import Visit

logger = logging.getLogger(__name__)


def read_on(event: IndexEvent, services: Services) -> None:
    """Read some more of a repository's issues, if it is still ours and wants to be looked at."""
    known = services.store.repositories.get(event.repository.id)
    if known is None:
        return
    if known.suspended or known.archived:
        begun = services.store.backfills.get(known.id)
        if begun is not None and not begun.done:
            # Or it would seem for hours that somebody is at it, also when it could go on.
            services.indexing.stop(known.id, "access is suspended" if known.suspended else "it is archived")
        return
    if event.completed:
        completed(replace(event, repository=known.summary), services)
        return
    repository = known.summary
    try:
        client = partial(services.github.in_repository, services.installation_of(known))
        settings = services.repository_settings.read(client, repository)
        if settings.config.mode == "off":
            services.indexing.stop(repository.id, OFF)
            return
        github = client(repository.id)
        if event.step == 0 and recalling.is_new(services, known.id):
            recalling.recall(github, repository, services)
        services.issue_forms.refresh(github, repository)
        services.indexing.step(event, repository, github)
    except (NotFound, Forbidden) as refusal:
        logger.warning("%s cannot be read: %s", repository.ref, refusal)
        services.indexing.stop(repository.id, f"GitHub refuses it ({refusal.status})")
        present = services.store.repositories.get(repository.id)
        if present not in (None, known):
            # It has another name or owner since this began, and whoever heard of that found that this went on.
            services.indexing.begin(present.summary, present.installation, services.now())


# Seconds. A comment on what was reported longer ago comes too late for whoever reported it; `/duplicates scan` is there
# for a backlog.
_RECENT = 86_400.0
# Issues that are looked at again, the latest; each can cost a search at GitHub.
_MOST = 100


def completed(event: IndexEvent, services: Services) -> None:
    """Queue a look at each recent issue for which nothing was found before the index was complete."""
    repo_id, now = event.repository.id, services.now()
    if not services.indexing.ready(repo_id):
        # It was erased or stopped meanwhile.
        return
    looks = services.store.decisions.between(repo_id, now - _RECENT, now + _RECENT)
    for look in unanswered(looks)[-_MOST:]:
        _queue(services, event.repository, event.installation, look)


@contextmanager
def until_complete(visit: Visit, installation: int | None) -> Iterator[None]:
    """Around a look: if the index becomes complete in the middle of it, `completed` may come too early to see it."""
    services, repo_id = visit.services, visit.repository.id
    complete = services.indexing.ready(repo_id)
    yield
    if complete or not services.indexing.ready(repo_id):
        return
    for look in unanswered(services.store.decisions.of_issue(repo_id, visit.number)):
        _queue(services, visit.repository, installation, look)


def is_unanswered(visit: Visit) -> bool:
    """Whether nothing was found for the issue so far. Who asked meanwhile, and was answered, keeps that answer."""
    return bool(unanswered(visit.decisions()))


def unanswered(looks: Iterable[Decision]) -> list[Decision]:
    """The last look at each issue, by number, if it found nothing to name, whether a comment says so or not.

    `looks` are the earliest first. That an issue was left alone since, as after a bot's edit, is no look at it.
    """
    last = {look.number: look for look in looks if look.outcome is not Outcome.LEFT_ALONE}
    return [last[number] for number in sorted(last) if not any(one.shown for one in last[number].evidence)]


def _queue(services: Services, repository: Repository, installation: int | None, look: Decision) -> None:
    event = own_issue_event(INDEXED, installation, repository, look.number)
    # To look again after the same look is the same work.
    services.inbox.put(f"{INDEXED}-{repository.id}-{look.number}-{look.at:.3f}", event)
