"""Which repositories are ours to look at: kept as GitHub tells, and erased with all we know when access ends (C6a)."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

from bot.events import InstallationEvent, RepositoryEvent, RepositorySummary
from bot.services import Services

logger = logging.getLogger(__name__)

ERASE_AGAIN = 300.0
"""Seconds; no job is at work for longer."""


def granted(event: InstallationEvent, services: Services) -> None:
    """The App was installed, resumed, or given other permissions."""
    services.store.repositories.suspend(event.installation, False)
    _add(event, services)


def suspended(event: InstallationEvent, services: Services) -> None:
    """Access rests and may come back: nothing is erased. GitHub sends no events and refuses tokens meanwhile."""
    services.store.repositories.suspend(event.installation, True)


def ended(event: InstallationEvent, services: Services) -> None:
    """The App was uninstalled: erase all that is stored of the installation's repositories."""
    # The payload names those that the store may have missed, and the store those that a later event shall erase again.
    stored = services.store.repositories.list(event.installation)
    known = (RepositorySummary(one.id, one.ref, one.private, one.archived) for one in stored)
    everything = tuple({one.id: one for one in (*event.added, *known)}.values())
    _forget(everything, replace(event, added=everything), services)


def list_changed(event: InstallationEvent, services: Services) -> None:
    """Repositories were added to the installation or taken out of it."""
    _add(event, services)
    _forget(event.removed, replace(event, added=()), services)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or brought back.

    What is stored is keyed by the repository's id and stays. A transfer to an account without the App is followed by
    `installation_repositories.removed`, which erases it.
    """
    services.store.repositories.upsert(event.repository, event.installation, services.now())
    # The files may have another place now, and the owner's settings may be those of another owner.
    services.repository_settings.forget(event.repository)


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """The repository no longer exists."""
    _forget((event.repository,), event, services)


def _forget(
    gone: Collection[RepositorySummary], again: InstallationEvent | RepositoryEvent, services: Services
) -> None:
    """Erase what store and queue hold of repositories, until nothing is left.

    A job that is at work at this moment may store something afterwards, so `again` comes a little later.
    """
    erased = 0
    for repository in gone:
        erased += services.store.forget(repository.id)
        services.inbox.erase(repository.id, services.now())
    if erased:
        logger.info("%d rows about %d repositories were erased", erased, len(gone))
        services.inbox.put(f"{again.partition}:{again.action}:{services.now():.3f}", again, ERASE_AGAIN)


def _add(event: InstallationEvent, services: Services) -> None:
    for repository in event.added:
        # These lists leave out whether a repository is archived; what another event said of it stays.
        known = services.store.repositories.get(repository.id)
        archived = known.archived if known else repository.archived
        summary = RepositorySummary(repository.id, repository.ref, repository.private, archived)
        services.store.repositories.upsert(summary, event.installation, services.now())
