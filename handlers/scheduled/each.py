"""Runs a chore in all repositories, so that a fault in one stops no other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from bot.domain.errors import Overtaken
from bot.platform.logs import describe
from bot.storage import Store, StoredRepository
from bot.storage.failures import passes
from handlers.erasing import erased_if_ended

logger = logging.getLogger(__name__)


def workable(store: Store) -> list[tuple[StoredRepository, int]]:
    """The repositories in which the App can work (not suspended, not archived), each with its installation."""
    known = [one for one in store.repositories.list() if not one.suspended and not one.archived]
    return [(one, one.installation) for one in known if one.installation is not None]


def in_each(
    repositories: Iterable[tuple[StoredRepository, int]], store: Store, do: Callable[[StoredRepository, int], None]
) -> None:
    """Call `do` for every repository with its installation, and erase those whose access ends meanwhile.

    After all others had their turn it raises the first fault, so that the chore counts as failed. It raises at once if
    the database is away, which would hold up the others too, or another worker has taken over this turn.
    """
    first: Exception | None = None
    for known, installation in repositories:
        try:
            with erased_if_ended(known.id, store):
                do(known, installation)
        except Exception as fault:
            if passes(fault) or isinstance(fault, Overtaken):
                raise
            logger.error("%s: this turn failed, the others go on: %s", known.ref, describe(fault))
            first = first or fault
    if first is not None:
        raise first
