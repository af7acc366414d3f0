"""Keeps the list of the App's repositories, and erases a repository with all its data when access ends (C6a).

Deliveries come late and overtake each other, so the handlers ask GitHub wherever they can. If a delivery is lost,
`scheduled/reconciliation.py` repairs the list.
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
    """Store a repository's present state. If it changed, forget its settings, because the owner may be another."""
    known = services.store.repositories.get(repository.id)
    services.store.repositories.upsert(repository, installation, services.now())
    before = None if known is None else known.summary
    if before == repository:
        return
    for version in (before, repository):
        if version is not None:
            services.repository_settings.forget(version)


def erase_repository(
    repo_id: int, services: Services, before: float | None = None, *, installation: int | None = None
) -> None:
    """Erase a repository from the store, the evaluation's history, and the queue (jobs that arrived `before`).

    `installation` is the installation whose access ended, if known: a repository that now belongs to another
    installation stays. Running work on the repository erases its own data afterwards (`erased_if_ended`).
    """

    def is_elsewhere(known: StoredRepository) -> bool:
        return installation is not None and known.installation not in (None, installation)

    known = services.store.repositories.get(repo_id)
    if known is not None and is_elsewhere(known):
        return
    if known is not None:
        # Each repository has its own copy of the owner's settings.
        services.repository_settings.forget(known.summary)
    # Erase the queue first: a waiting job would store the erased data again.
    services.inbox.erase(repo_id, before)
    services.store.forget(repo_id, is_elsewhere)
    erase_history(services.settings.home, repo_id)
    logger.info("everything about repository %d was erased", repo_id)


@contextmanager
def erased_if_ended(repo_id: int, store: Store) -> Iterator[None]:
    """Erase a repository at the end of the block if access has ended: the work in the block may have stored data.

    `erase_repository` does not wait for running work. Enter the block before looking up the repository, so that a
    retried job erases what its killed attempt stored, even if the repository is gone by then.
    """
    try:
        yield
    finally:
        if store.repositories.get(repo_id) is None:
            # The callback keeps a repository whose access has returned at this very moment.
            store.forget(repo_id, lambda _: True)


def installation_granted(event: InstallationEvent, services: Services) -> None:
    """The App was installed or unsuspended, or got other permissions, which the present tokens lack."""
    services.github.forget_tokens(event.installation)
    _add(event, services)
    installation_suspended(event, services)
    _begin_indexing(event, services)


def installation_suspended(event: InstallationEvent, services: Services) -> None:
    """Store whether access is suspended. Erase nothing, because access may return."""
    present = services.github.app().installation(event.installation)
    services.store.repositories.suspend(event.installation, present.suspended)


def installation_deleted(event: InstallationEvent, services: Services) -> None:
    """The App was uninstalled: erase the installation's repositories, if GitHub confirms the uninstallation."""
    try:
        services.github.app().installation(event.installation)
    except NotFound:
        pass
    else:
        logger.warning("installation %d is still there: nothing of it is erased", event.installation)
        return
    ids = {repository.id for repository in services.store.repositories.list(event.installation)}
    # The payload may name repositories that the store lacks.
    ids |= {repository.id for repository in event.added}
    for repo_id in ids:
        erase_repository(repo_id, services, services.arrived, installation=event.installation)


def installation_repositories_changed(event: InstallationEvent, services: Services) -> None:
    """Repositories were added to the installation or removed from it."""
    for repository in event.removed:
        known = services.store.repositories.get(repository.id)
        # The delivery may be late, and the repository may have been added again.
        added_again = known is not None and services.github.app().is_installed_on(known.ref, repository.id)
        if not added_again:
            erase_repository(repository.id, services, services.arrived, installation=event.installation)
    if event.added:
        _add(event, services)
        _begin_indexing(event, services)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or unarchived.

    The store's key is the repository's id, so all data stays. If the new owner lacks the App, the event
    `installation_repositories.removed` follows and causes the erasure.
    """
    if services.store.repositories.get(event.repository.id) is None:
        # Access has ended, or the next event of an issue will store the repository.
        return
    installation, present = services.github.app().repository(event.repository.ref, event.repository.id)
    take_over(present, installation, services)
    # An index step may have stopped at the former name, or because the repository was archived.
    services.indexing.begin(present, installation, services.arrived or services.now())


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """A repository was deleted: erase its data, unless GitHub still has the repository."""
    known = services.store.repositories.get(event.repository.id)
    try:
        services.github.app().repository(known.ref if known else event.repository.ref, event.repository.id)
    except NotFound:
        erase_repository(event.repository.id, services, services.arrived)


def pushed(event: PushEvent, services: Services) -> None:
    """The settings file may have changed: forget the settings, so that the next event reads the file again.

    Commands and `check-config` report problems in the file.
    """
    services.repository_settings.forget(event.repository)


def _add(event: InstallationEvent, services: Services) -> None:
    # If the installation has ended, NotFound stops this before anything is stored.
    services.github.app().installation(event.installation)
    for repository in event.added:
        # The payload does not say whether a repository is archived.
        known = services.store.repositories.get(repository.id)
        archived = known.archived if known else repository.archived
        installation, summary = event.installation, replace(repository, archived=archived)
        if known is not None and known.summary != summary:
            # The store or the event is out of date, and may call a private repository public.
            try:
                installation, summary = services.github.app().repository(repository.ref, repository.id)
            except (NotFound, Forbidden):
                # The repository is gone or suspended; keep the stored row.
                continue
        take_over(summary, installation, services)


def _begin_indexing(event: InstallationEvent, services: Services) -> None:
    for repository in event.added:
        known = services.store.repositories.get(repository.id)
        if known is not None:
            services.indexing.begin(known.summary, known.installation, services.arrived or services.now())
