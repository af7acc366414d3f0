"""Stores a repository's present state, and erases a repository with all its data when access ends (C6a).

Deliveries come late and overtake each other, so the handlers ask GitHub. If a delivery is lost, `installations.py`
repairs the stored state.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.deliveries.events import PushEvent, RepositoryEvent
from bot.domain.entities import Repository
from bot.domain.errors import NotFound
from bot.quality.evaluation.history import erase_history
from bot.storage import Store, StoredRepository
from handlers.services import Services

logger = logging.getLogger(__name__)


def take_over(repository: Repository, installation: int, services: Services) -> None:
    """Store a repository's state. If it has changed, forget the settings: its owner may be new."""
    known = services.store.repositories.get(repository.id)
    services.store.repositories.upsert(repository, installation, services.now())
    before = None if known is None else known.summary
    if before == repository:
        return
    for version in (before, repository):
        if version is not None:
            services.repository_settings.forget(version)


def erase_repository(repo_id: int, services: Services, *, installation: int | None = None) -> None:
    """Erase a repository from the store and the evaluation's history, and its earlier deliveries from the queue.

    `installation` is the installation whose access ended, if known: a repository that now belongs to another
    installation stays. Work that is running on the repository erases the data again when it ends (`erased_if_ended`).
    """

    def is_elsewhere(known: StoredRepository) -> bool:
        return installation is not None and known.installation not in (None, installation)

    known = services.store.repositories.get(repo_id)
    if known is not None and is_elsewhere(known):
        return
    if known is not None:
        # If this repository holds the owner's settings, drop the copies for the owner's other repositories too.
        services.repository_settings.forget(known.summary)
    # Erase the queue first: a waiting job would store the erased data again.
    services.inbox.erase(repo_id, services.arrived)
    services.store.forget(repo_id, is_elsewhere)
    erase_history(services.settings.home, repo_id)
    logger.info("everything about repository %d was erased", repo_id)


@contextmanager
def erased_if_ended(repo_id: int, store: Store) -> Iterator[None]:
    """Erase a repository at the end of the block if access has ended: the work in the block may have stored data.

    `erase_repository` does not wait for running work. Look up the repository only inside the block: the retry of a
    killed job may find the repository gone, but must enter the block to erase what the killed job stored.
    """
    try:
        yield
    finally:
        if store.repositories.get(repo_id) is None:
            # If access has just returned, there is a row again. Then `forget` calls `spared`, and erases nothing.
            store.forget(repo_id, spared=lambda _: True)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or unarchived.

    The store's key is the repository's id, so all data stays. If the new owner lacks the App, the event
    `installation_repositories.removed` follows and causes the erasure.
    """
    if services.store.repositories.get(event.repository.id) is None:
        # Access has ended, or the repository is not stored yet: its next issue event stores it.
        return
    installation, present = services.github.app().repository(event.repository.ref, event.repository.id)
    take_over(present, installation, services)
    # Indexing may have stopped because of the former name, or because the repository was archived.
    services.indexing.begin(present, installation, services.arrived or services.now())


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """A repository was deleted: erase its data, unless GitHub still has the repository."""
    known = services.store.repositories.get(event.repository.id)
    try:
        services.github.app().repository(known.ref if known else event.repository.ref, event.repository.id)
    except NotFound:
        erase_repository(event.repository.id, services)


def pushed(event: PushEvent, services: Services) -> None:
    """The settings file may have changed: forget the settings, so that the next event reads the file again."""
    services.repository_settings.forget(event.repository)
