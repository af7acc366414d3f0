"""A step of filling a repository's index: work of our own, queued by `bot.indexing`."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from bot.errors import Forbidden, NotFound
from bot.events import IndexEvent
from bot.services import Services
from bot.store.parts.backfills import OFF
from handlers.indexed import completed

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
        services.issue_forms.refresh(github, repository)
        services.indexing.step(event, repository, github)
    except (NotFound, Forbidden) as refusal:
        logger.warning("%s cannot be read: %s", repository.ref, refusal)
        services.indexing.stop(repository.id, f"GitHub refuses it ({refusal.status})")
        present = services.store.repositories.get(repository.id)
        if present not in (None, known):
            # It has another name or owner since this began, and whoever heard of that found that this went on.
            services.indexing.begin(present.summary, present.installation, services.now())
