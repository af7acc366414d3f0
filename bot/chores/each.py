"""One turn of a chore in all repositories: a fault in one keeps it from no other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from bot.erasing import erased_if_ended
from bot.errors import Overtaken
from bot.store import Store, StoredRepository
from bot.store.database.failures import passes
from bot.telemetry.errors import describe

logger = logging.getLogger(__name__)


def workable(store: Store) -> list[tuple[StoredRepository, int]]:
    """Each repository that the App can work in, with its installation: not suspended, not archived."""
    return [
        (one, one.installation)
        for one in store.repositories.list()
        if one.installation is not None and not one.suspended and not one.archived
    ]


def in_each(
    repositories: Iterable[tuple[StoredRepository, int]], store: Store, do: Callable[[StoredRepository, int], None]
) -> None:
    """Do it in every repository, given with its installation, and leave nothing in those whose access ends meanwhile.

    Raises the first fault, after all others have had their turn, so that the chore is told as failed; its next turn
    comes in time. At once where the database is away, since the others would but wait for it as well, and where another
    worker has taken this turn over.
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
