"""Which repositories the App has: stored as GitHub says, and erased with everything else when access ends (C6a).

Deliveries come late and overtake each other, so GitHub is asked wherever it can be. `scheduled/reconciliation.py` finds
what a lost delivery leaves behind.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.deliveries.events import InstallationEvent, PushEvent, RepositoryEvent
from bot.domain.entities import Repository
from bot.domain.errors import Forbidden, NotFound
from bot.quality.evaluation.history import erase_history
from bot.storage import Store, StoredRepository
from handlers.services import Services

logger = logging.getLogger(__name__)


def take_over(repository: Repository, installation: int, services: Services) -> None:
    """Store what a repository is now. If anything changed, its settings are read again: its owner may be another."""
    known = services.store.repositories.get(repository.id)
    services.store.repositories.upsert(repository, installation, services.now())
    before = None if known is None else known.summary
    if before == repository:
        return
    for one in (before, repository):
        if one is not None:
            services.repository_settings.forget(one)


def erase_repository(
    repo_id: int, services: Services, before: float | None = None, *, installation: int | None = None
) -> None:
    """Erase a repository from the store, the evaluation's history, and the queue (what arrived `before`).

    `installation` is the one whose access ended, if known: what belongs to another one by now stays. Work that is
    running on the repository cleans up after itself (`erased_if_ended`).
    """

    def is_elsewhere(known: StoredRepository) -> bool:
        return installation is not None and known.installation not in (None, installation)

    known = services.store.repositories.get(repo_id)
    if known is not None and is_elsewhere(known):
        return
    if known is not None:
        # Copies of an owner's settings lie with each of their repositories.
        services.repository_settings.forget(known.summary)
    # The queue first: a waiting job would store again what is erased.
    services.inbox.erase(repo_id, before)
    services.store.forget(repo_id, is_elsewhere)
    erase_history(services.settings.home, repo_id)
    logger.info("everything about repository %d was erased", repo_id)


@contextmanager
def erased_if_ended(repo_id: int, store: Store) -> Iterator[None]:
    """Around work that stores anything of a repository: erase that at the end if access ended meanwhile.

    Erasing does not wait for running work. Enter this before the repository is looked up: a retried job finds it gone,
    but not what the killed attempt stored.
    """
    try:
        yield
    finally:
        if store.repositories.get(repo_id) is None:
            # The App may get it back at this very moment.
            store.forget(repo_id, lambda _: True)


def installation_granted(event: InstallationEvent, services: Services) -> None:
    """The App was installed, unsuspended, or got other permissions, which the tokens so far do not hold."""
    services.github.forget_tokens(event.installation)
    _add(event, services)
    installation_suspended(event, services)
    _begin_indexing(event, services)


def installation_suspended(event: InstallationEvent, services: Services) -> None:
    """Note whether access is suspended. It may come back, so nothing is erased."""
    present = services.github.app().installation(event.installation)
    services.store.repositories.suspend(event.installation, present.suspended)


def installation_deleted(event: InstallationEvent, services: Services) -> None:
    """The App was uninstalled: erase the installation's repositories, if GitHub confirms it."""
    try:
        services.github.app().installation(event.installation)
    except NotFound:
        pass
    else:
        logger.warning("installation %d is still there: nothing of it is erased", event.installation)
        return
    ids = {repository.id for repository in services.store.repositories.list(event.installation)}
    # The payload names those that the store may have missed.
    ids |= {repository.id for repository in event.added}
    for repo_id in ids:
        erase_repository(repo_id, services, services.arrived, installation=event.installation)


def installation_repositories_changed(event: InstallationEvent, services: Services) -> None:
    """Repositories were added to the installation or removed from it."""
    for repository in event.removed:
        known = services.store.repositories.get(repository.id)
        # A late delivery: it may have been added again since.
        back = known is not None and services.github.app().is_installed_on(known.ref, repository.id)
        if not back:
            erase_repository(repository.id, services, services.arrived, installation=event.installation)
    if event.added:
        _add(event, services)
        _begin_indexing(event, services)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or unarchived.

    The repository's id is the key of everything stored, so that stays. If the new owner lacks the App,
    `installation_repositories.removed` follows and erases it.
    """
    if services.store.repositories.get(event.repository.id) is None:
        # Access has ended since, or the next event of an issue makes it known.
        return
    installation, present = services.github.app().repository(event.repository.ref, event.repository.id)
    take_over(present, installation, services)
    # It could not be read by its former name, or while it was archived.
    services.indexing.begin(present, installation, services.arrived or services.now())


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """A repository was deleted: erase it, unless it was restored or lives on under another installation."""
    known = services.store.repositories.get(event.repository.id)
    try:
        services.github.app().repository(known.ref if known else event.repository.ref, event.repository.id)
    except NotFound:
        erase_repository(event.repository.id, services, services.arrived)


def pushed(event: PushEvent, services: Services) -> None:
    """The settings file may have changed: forget it, so that the next event reads it again.

    Problems in it are told to whoever gives a command or runs `check-config`.
    """
    services.repository_settings.forget(event.repository)


def _add(event: InstallationEvent, services: Services) -> None:
    # Raises NotFound if the installation has ended since; then nothing must be stored.
    services.github.app().installation(event.installation)
    for repository in event.added:
        # The payload does not say whether a repository is archived.
        known = services.store.repositories.get(repository.id)
        archived = known.archived if known else repository.archived
        installation, summary = event.installation, replace(repository, archived=archived)
        if known is not None and known.summary != summary:
            # One of the two is out of date, and may call public what is private.
            try:
                installation, summary = services.github.app().repository(repository.ref, repository.id)
            except (NotFound, Forbidden):
                # It is gone or suspended; what is stored stays.
                continue
        take_over(summary, installation, services)


def _begin_indexing(event: InstallationEvent, services: Services) -> None:
    for repository in event.added:
        known = services.store.repositories.get(repository.id)
        if known is not None:
            services.indexing.begin(known.summary, known.installation, services.arrived or services.now())
