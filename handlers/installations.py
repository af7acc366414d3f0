"""Makes the stored repositories agree with GitHub's lists (C6a): after events of an installation, and by schedule.

Deliveries come late, overtake each other and get lost, so only GitHub's lists count here.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.deliveries.events import InstallationEvent
from bot.domain.entities import Repository, name_key
from bot.domain.errors import Forbidden, NotFound
from bot.github.app import AppClient, Installation
from bot.storage.repositories import StoredRepository
from handlers.repositories import erase_repository, take_over
from handlers.services import Services

logger = logging.getLogger(__name__)

RECONCILE_EVERY = 1800.0
"""Seconds between two runs. Even if one run fails, the bot erases all data within an hour after access ends."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An installation as GitHub lists it. `repositories` is None if GitHub gives no list, as during a suspension."""

    id: int
    account: str
    suspended: bool
    repositories: tuple[Repository, ...] | None


def compare(
    listed: Sequence[Listed], stored: Sequence[StoredRepository]
) -> tuple[list[StoredRepository], list[tuple[Repository, int]]]:
    """Compare GitHub's lists with the store. Skips stored repositories whose installation has no list.

    Returns the stored repositories that no installation lists; lists can have gaps, so the caller must check each. Also
    returns the repositories that are new or differ from their row, each with its installation.
    """
    present = {repo.id: (repo, listing.id) for listing in listed for repo in listing.repositories or ()}
    known = {row.id: row for row in stored}
    without_list = [listing for listing in listed if listing.repositories is None]
    ids_without_list = {listing.id for listing in without_list}
    # Compare accounts too, because a row may name an earlier installation of the same account.
    accounts_without_list = {name_key(listing.account) for listing in without_list}
    missing = [
        row
        for row in stored
        if row.id not in present
        and row.installation not in ids_without_list
        and name_key(row.ref.owner) not in accounts_without_list
    ]
    changed = [
        (summary, installation)
        for summary, installation in present.values()
        if (row := known.get(summary.id)) is None or (row.summary, row.installation) != (summary, installation)
    ]
    return missing, changed


def installation_changed(event: InstallationEvent, services: Services) -> None:
    """An installation began, ended, was suspended, or has other permissions or repositories."""
    # Cached tokens lack permissions that were just granted.
    services.github.forget_tokens(event.installation)
    stored = services.store.repositories.list(event.installation)
    try:
        installations = [services.github.app().installation(event.installation)]
    except NotFound:
        if event.action != "deleted":
            # GitHub may send the event before all its databases have the installation. The queue tries again.
            raise
        installations = []
    _reconcile(installations, stored, services)


def reconcile(services: Services) -> None:
    """Compare all stored repositories with GitHub's lists.

    Raises RateLimited, Unavailable, and Forbidden if GitHub refuses the App's credentials.
    """
    # Read the store before GitHub's lists: in the reverse order, a repository added in between would seem to be lost.
    stored = services.store.repositories.list()
    _reconcile(services.github.app().installations(), stored, services)


def _reconcile(installations: Sequence[Installation], stored: Sequence[StoredRepository], services: Services) -> None:
    """Update the stored repositories, and erase those that the App has lost.

    Erase a repository only after GitHub has confirmed that the App is not installed on it.
    """
    app, repositories = services.github.app(), services.store.repositories
    listed = [_list(app, installation) for installation in installations]
    missing, changed = compare(listed, stored)
    for summary, installation in changed:
        take_over(summary, installation, services)
    with_changes = {installation for _, installation in changed}
    for listing in listed:
        # Correct `suspended` before the backfills: a value from a former installation would stop the backfills.
        # Write only if GitHub's list and `stored` differ: any other write could undo what an event has changed since
        # the list and `stored` were read.
        suspension_differs = any(row.suspended != listing.suspended for row in stored if row.installation == listing.id)
        if listing.id in with_changes or suspension_differs:
            repositories.suspend(listing.id, listing.suspended)
        for summary in listing.repositories or ():
            services.indexing.begin(summary, listing.id, services.arrived or services.now())
    erased = 0
    for repository in missing:
        # Ask about one repository at a time: if a rate limit ends this run, the confirmed losses are erased already.
        if app.is_installed_on(repository.ref, repository.id):
            logger.warning("the App is installed on repository %d, which GitHub's lists lack", repository.id)
        else:
            erase_repository(repository.id, services, installation=repository.installation)
            erased += 1
    logger.info(
        "reconciled with GitHub: installations: %d; repositories new or changed: %d, erased: %d",
        len(listed),
        len(changed),
        erased,
    )


def _list(app: AppClient, installation: Installation) -> Listed:
    repositories = None
    if not installation.suspended:
        try:
            repositories = tuple(app.repositories(installation.id))
        except (Forbidden, NotFound) as refusal:
            # The installation has been removed or suspended since GitHub listed it.
            logger.warning("installation %d: GitHub gives no list of repositories: %s", installation.id, refusal)
    return Listed(installation.id, installation.account, installation.suspended, repositories)
