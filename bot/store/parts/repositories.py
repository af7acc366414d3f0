"""The repositories that the App is installed on, by GitHub's id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.model import RepoRef, Repository
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.index import lock_index
from bot.store.tables.schema import repositories


@dataclass(frozen=True, slots=True)
class StoredRepository:
    """A repository as last heard of. `installation` is None until an event has named it."""

    id: int
    ref: RepoRef
    private: bool
    archived: bool
    installation: int | None
    suspended: bool

    @property
    def summary(self) -> Repository:
        """The part that webhooks tell."""
        return Repository(self.id, self.ref, self.private, self.archived)


class Repositories(Part):
    """Which repositories there are. Erasing one is `Store.forget`, since other tables hold things of it too."""

    def upsert(self, repository: Repository, installation: int | None, now: float) -> None:
        """Take over what a webhook says; an unknown installation (None) leaves the known one as it is."""
        values: dict[str, Any] = {
            "owner": repository.ref.owner,
            "name": repository.ref.name,
            "lookup": repository.ref.key,
            "private": repository.private,
            "archived": repository.archived,
            "updated_at": now,
        }
        insert = self._insert(repositories).values(
            repo_id=repository.id, installation=installation, suspended=False, **values
        )
        if installation is not None:
            values["installation"] = installation
        with write(self._engine) as connection:
            # Whoever erases holds this too: a row that is not there yet cannot be locked.
            lock_index(connection, repository.id)
            connection.execute(insert.on_conflict_do_update(index_elements=["repo_id"], set_=values))

    def get(self, repo_id: int) -> StoredRepository | None:
        """The repository with this id."""
        return self._one(sa.select(repositories).where(repositories.c.repo_id == repo_id))

    def by_name(self, ref: RepoRef) -> StoredRepository | None:
        """The repository that bears this name, in any case; the one heard of last, if an older one still seems to."""
        found = sa.select(repositories).where(repositories.c.lookup == ref.key)
        return self._one(found.order_by(repositories.c.updated_at.desc(), repositories.c.repo_id.desc()).limit(1))

    def list(self, installation: int | None = None) -> list[StoredRepository]:
        """All repositories of an installation, or all there are, by name."""
        query = sa.select(repositories).order_by(repositories.c.lookup, repositories.c.repo_id)
        if installation is not None:
            query = query.where(repositories.c.installation == installation)
        return [_read(row) for row in self._all(query)]

    def suspend(self, installation: int, suspended: bool) -> None:
        """Mark all repositories of an installation as suspended, or as running again."""
        theirs = sa.update(repositories).where(repositories.c.installation == installation)
        self._change(theirs.values(suspended=suspended))

    def held(self, connection: sa.Connection, repo_id: int) -> StoredRepository | None:
        """The repository with this id, whose row nobody else makes, changes or erases until the transaction ends."""
        lock_index(connection, repo_id)
        mine = sa.select(repositories).where(repositories.c.repo_id == repo_id).with_for_update()
        row = connection.execute(mine).first()
        return None if row is None else _read(row)

    def _one(self, query: sa.Select[Any]) -> StoredRepository | None:
        row = self._first(query)
        return None if row is None else _read(row)


def _read(row: sa.Row[Any]) -> StoredRepository:
    return StoredRepository(
        row.repo_id, RepoRef(row.owner, row.name), row.private, row.archived, row.installation, row.suspended
    )
