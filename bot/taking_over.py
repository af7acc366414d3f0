"""Taking over what GitHub says of a repository of ours: its name, its visibility, and which installation has it."""

from __future__ import annotations

from bot.model import Repository
from bot.services import Services


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
