"""Compares the stored repositories with GitHub's lists, since deliveries get lost (C6a)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.entities import Repository, name_key
from bot.domain.errors import Forbidden, NotFound
from bot.github.app import AppClient, Installation
from bot.storage.repositories import StoredRepository
from handlers.repositories import erase_repository, take_over
from handlers.services import Services

logger = logging.getLogger(__name__)

RECONCILE_EVERY = 1800.0
"""Seconds. When access ends, all is erased within the hour, even if one turn fails."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An installation by GitHub's lists. `repositories` is None if GitHub does not list them, as while suspended."""

    id: int
    account: str
    suspended: bool
    repositories: tuple[Repository, ...] | None


@dataclass(frozen=True, slots=True)
class Differences:
    """The changes for the store.

    `missing` are stored repositories that no installation lists; lists can have gaps, so each must be checked.
    `changed` are new repositories and those whose row differs, each with its installation. `suspensions` are pairs of
    an installation and whether it is suspended.
    """

    missing: tuple[StoredRepository, ...]
    changed: tuple[tuple[Repository, int], ...]
    suspensions: tuple[tuple[int, bool], ...]


def compare(listed: Sequence[Listed], stored: Sequence[StoredRepository]) -> Differences:
    """Where GitHub's lists and the store differ. Nothing is missing from an installation without a list."""
    present = {repo.id: (repo, one.id) for one in listed for repo in one.repositories or ()}
    known = {repo.id: repo for repo in stored}
    silent = {one.id for one in listed if one.repositories is None}
    # A row may have an earlier installation of the same account.
    silent_accounts = {name_key(one.account) for one in listed if one.repositories is None}
    return Differences(
        missing=tuple(
            repo
            for repo in stored
            if repo.id not in present
            and repo.installation not in silent
            and name_key(repo.ref.owner) not in silent_accounts
        ),
        changed=tuple(
            (summary, installation)
            for summary, installation in present.values()
            if (repo := known.get(summary.id)) is None or (repo.summary, repo.installation) != (summary, installation)
        ),
        suspensions=tuple(
            (one.id, one.suspended)
            for one in listed
            if any(repo.installation == one.id and repo.suspended != one.suspended for repo in stored)
        ),
    )


def reconcile(services: Services) -> None:
    """Update the stored repositories, and erase those that are no longer ours.

    It erases one only after GitHub has confirmed that the App is not installed on it. Raises RateLimited, Unavailable
    and Forbidden (GitHub refuses the App's own credentials); then nothing more is erased.
    """
    app, repositories = services.github.app(), services.store.repositories
    # Before the lists: a repository that becomes ours in between would be stored, but on no list.
    stored = repositories.list()
    listed = [_list(app, one) for one in app.installations()]
    differences = compare(listed, stored)
    for summary, installation in differences.changed:
        take_over(summary, installation, services)
        services.indexing.begin(summary, installation, services.now())
    for installation, suspended in differences.suspensions:
        repositories.suspend(installation, suspended)
    gone = [repository for repository in differences.missing if _is_gone(app, repository)]
    for repository in gone:
        erase_repository(repository.id, services, installation=repository.installation)
    logger.info(
        "reconciled with GitHub: installations: %d; repositories new or changed: %d, erased: %d; suspensions noted: %d",
        len(listed),
        len(differences.changed),
        len(gone),
        len(differences.suspensions),
    )


def _list(app: AppClient, installation: Installation) -> Listed:
    repositories = None
    if not installation.suspended:
        try:
            repositories = tuple(app.repositories(installation.id))
        except (Forbidden, NotFound) as refusal:
            # It has ended or been suspended since it was listed.
            logger.warning("installation %d tells no repositories: %s", installation.id, refusal)
    return Listed(installation.id, installation.account, installation.suspended, repositories)


def _is_gone(app: AppClient, repository: StoredRepository) -> bool:
    if app.is_installed_on(repository.ref, repository.id):
        logger.warning("repository %d is ours but on no list of GitHub's", repository.id)
        return False
    return True
