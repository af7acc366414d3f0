"""Taking a repository over, and erasing it: everything that store, queue and the data directory hold of it (C6a)."""

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
