"""Which repositories are ours to look at: kept as GitHub tells, and erased with all we know when access ends (C6a)."""

from __future__ import annotations

import logging

from bot.events import InstallationEvent, RepositoryEvent, RepositorySummary
from bot.services import Services

logger = logging.getLogger(__name__)


def granted(event: InstallationEvent, services: Services) -> None:
    """The App was installed, resumed, or given other permissions."""
    services.store.repositories.suspend(event.installation, False)
    _add(event, services)


def suspended(event: InstallationEvent, services: Services) -> None:
    """Access rests and may come back: nothing is erased. GitHub sends no events and refuses tokens meanwhile."""
    services.store.repositories.suspend(event.installation, True)


def ended(event: InstallationEvent, services: Services) -> None:
    """The App was uninstalled: erase all that is stored of the installation's repositories."""
    ids = {repository.id for repository in services.store.repositories.list(event.installation)}
    for repository in event.added:
        # The payload names those that the store may have missed; some may be with a later installation by now.
        known = services.store.repositories.get(repository.id)
        if known is None or known.installation is None:
            ids.add(repository.id)
    for repo_id in ids:
        _forget(repo_id, services)


def list_changed(event: InstallationEvent, services: Services) -> None:
    """Repositories were added to the installation or taken out of it."""
    _add(event, services)
    for repository in event.removed:
        _forget(repository.id, services)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or brought back.

    What is stored is keyed by the repository's id and stays. A transfer to an account without the App is followed by
    `installation_repositories.removed`, which erases it.
    """
    if services.store.repositories.get(event.repository.id) is None:
        # Access has ended since, and nothing must be stored; or the next event of an issue makes it known.
        return
    services.store.repositories.upsert(event.repository, event.installation, services.now())
    # The files may have another place now, and the owner's settings may be those of another owner.
    services.repository_settings.forget(event.repository)


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """The repository no longer exists."""
    _forget(event.repository.id, services)


def _forget(repo_id: int, services: Services) -> None:
    """Erase what store and queue hold of a repository. A job that is at work on it cleans up by itself (`visiting`)."""
    services.store.forget(repo_id)
    services.inbox.erase(repo_id, services.now())
    logger.info("everything about repository %d was erased", repo_id)


def _add(event: InstallationEvent, services: Services) -> None:
    for repository in event.added:
        # These lists leave out whether a repository is archived; what another event said of it stays.
        known = services.store.repositories.get(repository.id)
        archived = known.archived if known else repository.archived
        summary = RepositorySummary(repository.id, repository.ref, repository.private, archived)
        services.store.repositories.upsert(summary, event.installation, services.now())
