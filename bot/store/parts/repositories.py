"""The repositories that the App is installed on, by GitHub's id; in each the bot's own issues
(`bot/posts/own_issues.py`), its files as last fetched, and how far the first reading of its issues has come.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.model import RepoRef, Repository
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.index import backfills, lock_index
from bot.store.tables.schema import digest_issues, repositories, scan_issues, texts


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
        return [_stored(row) for row in self._all(query)]

    def suspend(self, installation: int, suspended: bool) -> None:
        """Mark all repositories of an installation as suspended, or as running again."""
        theirs = sa.update(repositories).where(repositories.c.installation == installation)
        self._change(theirs.values(suspended=suspended))

    def held(self, connection: sa.Connection, repo_id: int) -> StoredRepository | None:
        """The repository with this id, whose row nobody else makes, changes or erases until the transaction ends."""
        lock_index(connection, repo_id)
        mine = sa.select(repositories).where(repositories.c.repo_id == repo_id).with_for_update()
        row = connection.execute(mine).first()
        return None if row is None else _stored(row)

    def _one(self, query: sa.Select[Any]) -> StoredRepository | None:
        row = self._first(query)
        return None if row is None else _stored(row)


def _stored(row: sa.Row[Any]) -> StoredRepository:
    return StoredRepository(
        row.repo_id, RepoRef(row.owner, row.name), row.private, row.archived, row.installation, row.suspended
    )


class Kind(StrEnum):
    """`SCAN` shows the groups of the backlog, `DIGEST` what the bot did in the last week."""

    SCAN = "scan"
    DIGEST = "digest"


_TABLES = {Kind.SCAN: scan_issues, Kind.DIGEST: digest_issues}


@dataclass(frozen=True, slots=True)
class KeptIssue:
    """`number` is None while nobody knows whether it was opened, at a time in seconds since 1970."""

    number: int | None
    updated_at: float


class OwnIssues(Part):
    """The numbers of one kind of issues, one in each repository."""

    def __init__(self, engine: sa.Engine, kind: Kind) -> None:
        super().__init__(engine)
        self.kind = kind
        self._table = _TABLES[kind]

    def get(self, repo_id: int) -> KeptIssue | None:
        """None where there was none, or it was deleted."""
        table = self._table
        row = self._first(sa.select(table.c.number, table.c.updated_at).where(table.c.repo_id == repo_id))
        return None if row is None else KeptIssue(row.number, row.updated_at)

    def set(self, repo_id: int, number: int | None, now: float) -> None:
        """Note the issue, or with None that it is about to be opened."""
        values = {"number": number, "updated_at": now}
        self._change(self._upsert(self._table, {"repo_id": repo_id}, values))

    def opened(self, repo_id: int, number: int, now: float) -> int:
        """Note an issue that was opened, unless another has been noted meanwhile; the number of the one that is."""
        values = {"number": number, "updated_at": now}
        unknown = self._table.c.number.is_(None)
        if self._write(self._upsert(self._table, {"repo_id": repo_id}, values, unknown)):
            return number
        kept = self.get(repo_id)
        return number if kept is None or kept.number is None else kept.number

    def drop(self, repo_id: int) -> None:
        """Note that there is none."""
        self._change(sa.delete(self._table).where(self._table.c.repo_id == repo_id))


@dataclass(frozen=True, slots=True)
class StoredText:
    """`text` is None where the file does not exist."""

    text: str | None
    fetched_at: float

    def is_fresh(self, now: float, seconds: float) -> bool:
        """Whether it was fetched within so many seconds."""
        # What was fetched long after now is from before the clock was set back.
        return abs(now - self.fetched_at) < seconds


class Texts(Part):
    """The `texts` table: by repository and a name that the caller chooses."""

    def get(self, repo_id: int, name: str) -> StoredText | None:
        """The text as last fetched, None if it never was."""
        query = sa.select(texts.c.text, texts.c.fetched_at).where(texts.c.repo_id == repo_id, texts.c.name == name)
        row = self._first(query)
        return None if row is None else StoredText(row.text, row.fetched_at)

    def put(self, repo_id: int, name: str, text: str | None, now: float) -> None:
        """Keep a text. NUL characters, which PostgreSQL cannot store, become U+FFFD."""
        values = {"text": None if text is None else text.replace("\0", "\ufffd"), "fetched_at": now}
        self._change(self._upsert(texts, {"repo_id": repo_id, "name": name}, values))

    def drop(self, repo_id: int) -> None:
        """Forget the repository's texts, because a push or a renaming has outdated them."""
        self._change(sa.delete(texts).where(texts.c.repo_id == repo_id))


OFF = "its settings say mode: off"
"""The problem of a repository whose maintainers do not want it read."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`cursor` is what to ask for next, in the words of whoever asks (a page, a cursor, a time); empty at the start.

    `etag` is that of the first page, by which a later look learns for nothing that nothing has changed. `seen` issues
    have been read of about `expected`. `problem` says why it does not go on at the moment, empty if it does.
    """

    cursor: str = ""
    etag: str = ""
    seen: int = 0
    expected: int | None = None
    done: bool = False
    problem: str = ""
    updated_at: float = 0.0

    @property
    def size(self) -> int | None:
        """How many issues the repository has, None where nobody has counted them."""
        return self.seen if self.done else self.expected

    @property
    def stopped(self) -> bool:
        """Whether nobody goes on with it, for the reason that `problem` says."""
        return self.problem != "" and not self.updated_at


class Backfills(Part):
    """The `backfills` table."""

    def get(self, repo_id: int) -> Progress | None:
        """None for a repository whose backfill has not begun."""
        with self._engine.connect() as connection:
            return _progress(connection, repo_id)

    def complete(self, repo_id: int) -> bool:
        """Whether all issues of a repository were read once, so that the index may be trusted."""
        progress = self.get(repo_id)
        return progress is not None and progress.done

    def set(self, repo_id: int, progress: Progress) -> None:
        """Keep the progress, after the issues themselves: those of a crash in between are then read again."""
        self._change(self._put(repo_id, progress))

    def replace(self, repo_id: int, before: Progress | None, after: Progress) -> bool:
        """The same for who has gone on from `before`; nothing is kept, and False returned, where that is not there.

        Then the repository was erased meanwhile, and what was read of it with it: a place to go on at would have that
        passed over for good where the repository is ours again. Or somebody else has come further.
        """
        with write(self._engine) as connection:
            # Whoever erases holds this too.
            lock_index(connection, repo_id)
            if _progress(connection, repo_id) != before:
                return False
            connection.execute(self._put(repo_id, after))
            return True

    def _put(self, repo_id: int, progress: Progress) -> Any:
        return self._upsert(backfills, {"repo_id": repo_id}, asdict(progress))


def _progress(connection: sa.Connection, repo_id: int) -> Progress | None:
    row = connection.execute(sa.select(backfills).where(backfills.c.repo_id == repo_id)).first()
    return None if row is None else Progress(*row[1:])
