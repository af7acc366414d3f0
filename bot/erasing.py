"""Erasing a repository: everything that store, queue and this machine's data directory hold of it (C6a)."""

from __future__ import annotations

import logging

from bot.evaluation.keeping import erase_history
from bot.services import Services

logger = logging.getLogger(__name__)


def erase_repository(repo_id: int, services: Services, before: float | None = None) -> None:
    """Erase a repository from the store, its history that `doppel evaluate` has read, and from the queue what arrived
    `before` (see `Inbox.erase`).

    A job that is at work on it cleans up by itself (`handlers.visit.visiting`).
    """
    known = services.store.repositories.get(repo_id)
    if known is not None:
        # Copies of an owner's settings lie with each of their repositories.
        services.repository_settings.forget(known.summary)
    # The queue first: a job that still waits would store anew what is erased.
    services.inbox.erase(repo_id, before)
    services.store.forget(repo_id)
    erase_history(services.settings.home, repo_id)
    logger.info("everything about repository %d was erased", repo_id)
