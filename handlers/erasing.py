"""Taking a repository over, and erasing it: everything that store, queue and the data directory hold of it (C6a)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.domain.entities import Repository
from bot.quality.evaluation.history import erase_history
from bot.storage import Store, StoredRepository
from handlers.services import Services


def take_over(repository: Repository, installation: int, services: Services) -> None:
    """Store what a repository is now, whichever delivery or list tells of it first.

    Where it is another than was known, its files may have another place, and the owner's settings may be those of
    another owner: they are read anew. What was an owner's under the former name is theirs no longer.
    """
    known = services.store.repositories.get(repository.id)
    services.store.repositories.upsert(repository, installation, services.now())
    before = None if known is None else known.summary
    if before == repository:
        return
    for one in (before, repository):
        if one is not None:
            services.repository_settings.forget(one)


logger = logging.getLogger(__name__)


def erase_repository(
    repo_id: int, services: Services, before: float | None = None, *, installation: int | None = None
) -> None:
    """Erase a repository from the store, its history that `doppel evaluate` has read, and from the queue what arrived
    `before` (see `Inbox.erase`).

    `installation` is the one whose access has ended, where that is known: what another one has by now stays, whether it
    was moved or the App was installed anew. Whatever is at work on it cleans up by itself (`erased_if_ended`).
    """

    def is_elsewhere(known: StoredRepository) -> bool:
        return installation is not None and known.installation not in (None, installation)

    known = services.store.repositories.get(repo_id)
    if known is not None and is_elsewhere(known):
        return
    if known is not None:
        # Copies of an owner's settings lie with each of their repositories.
        services.repository_settings.forget(known.summary)
    # The queue first: a job that still waits would store anew what is erased.
    services.inbox.erase(repo_id, before)
    services.store.forget(repo_id, is_elsewhere)
    erase_history(services.settings.home, repo_id)
    logger.info("everything about repository %d was erased", repo_id)


@contextmanager
def erased_if_ended(repo_id: int, store: Store) -> Iterator[None]:
    """Work on a repository that stores something of it: what stays if access ends meanwhile goes at the end.

    Erasing waits for nobody, so that whoever is at work writes on and has to look afterwards. It is entered before the
    repository is looked up: a job that is done again finds it gone, but not what was stored by the try that was killed.
    """
    try:
        yield
    finally:
        if store.repositories.get(repo_id) is None:
            # It can be ours again in this very moment.
            store.forget(repo_id, lambda _: True)
