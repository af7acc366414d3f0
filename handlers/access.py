"""Which repositories are ours to look at: kept as GitHub tells, and erased with all we know when access ends (C6a).

Deliveries overtake each other and come late, so that none is believed where GitHub can be asked. What a lost one leaves
behind is found by `handlers.scheduled.reconciliation`.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.deliveries.events import InstallationEvent, PushEvent, RepositoryEvent
from bot.domain.errors import Forbidden, NotFound
from handlers.erasing import erase_repository, take_over
from handlers.services import Services

logger = logging.getLogger(__name__)


def granted(event: InstallationEvent, services: Services) -> None:
    """The App was installed, resumed, or given other permissions, which the tokens that we have do not hold."""
    services.github.forget_tokens(event.installation)
    _add(event, services)
    suspended(event, services)
    _begin(event, services)


def suspended(event: InstallationEvent, services: Services) -> None:
    """Access rests and may come back: nothing is erased. GitHub sends no events and refuses tokens meanwhile."""
    present = services.github.app().installation(event.installation)
    services.store.repositories.suspend(event.installation, present.suspended)


def ended(event: InstallationEvent, services: Services) -> None:
    """The App was uninstalled: erase all that is stored of the installation's repositories, if GitHub says so too."""
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


def list_changed(event: InstallationEvent, services: Services) -> None:
    """Repositories were added to the installation or taken out of it, perhaps for a while only."""
    for repository in event.removed:
        if not _is_here_again(repository.id, services):
            erase_repository(repository.id, services, services.arrived, installation=event.installation)
    if event.added:
        _add(event, services)
        _begin(event, services)


def repository_changed(event: RepositoryEvent, services: Services) -> None:
    """A repository has a new name, owner or visibility, or was archived or brought back.

    What is stored is keyed by the repository's id and stays. A transfer to an account without the App is followed by
    `installation_repositories.removed`, which erases it.
    """
    known = services.store.repositories.get(event.repository.id)
    if known is None:
        # Access has ended since, and nothing must be stored; or the next event of an issue makes it known.
        return
    installation, present = services.github.app().repository(event.repository.ref, event.repository.id)
    take_over(present, installation, services)
    # By its former name, or while it was archived, it could not be read.
    services.indexing.begin(present, installation, services.arrived or services.now())


def repository_deleted(event: RepositoryEvent, services: Services) -> None:
    """The repository no longer exists, unless it was restored, with its id, or lives on under another installation."""
    known = services.store.repositories.get(event.repository.id)
    try:
        services.github.app().repository(known.ref if known else event.repository.ref, event.repository.id)
    except NotFound:
        erase_repository(event.repository.id, services, services.arrived)


def _is_here_again(repo_id: int, services: Services) -> bool:
    """Whether the App is installed on it, which was taken out: the delivery came later than the one that told so."""
    known = services.store.repositories.get(repo_id)
    return known is not None and services.github.app().is_installed_on(known.ref, repo_id)


def _add(event: InstallationEvent, services: Services) -> None:
    # Raises NotFound where the installation has ended since, and then nothing must be stored.
    services.github.app().installation(event.installation)
    for repository in event.added:
        # These lists leave out whether a repository is archived; what another event said of it stays.
        known = services.store.repositories.get(repository.id)
        archived = known.archived if known else repository.archived
        installation, summary = event.installation, replace(repository, archived=archived)
        if known is not None and known.summary != summary:
            # Either is late, and may have a name that is another's by now, or call public what is private.
            try:
                installation, summary = services.github.app().repository(repository.ref, repository.id)
            except (NotFound, Forbidden):
                # It is gone, or access rests, and what is stored stays.
                continue
        take_over(summary, installation, services)


def _begin(event: InstallationEvent, services: Services) -> None:
    """Have those repositories read that are new, or could not be read while access rested."""
    for repository in event.added:
        known = services.store.repositories.get(repository.id)
        if known is not None:
            services.indexing.begin(known.summary, known.installation, services.arrived or services.now())


def pushed(event: PushEvent, services: Services) -> None:
    """Forget the files; the next event reads them anew.

    What is wrong with a settings file is told to whoever gives a command or runs `check-config`. A push is not
    answered, since a broken file changes nothing for anybody until then.
    """
    services.repository_settings.forget(event.repository)
