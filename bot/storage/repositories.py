"""Stores repositories, the bot's own issues, cached files and backfills, by repository id."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import RepoRef, Repository
from bot.storage.engine import TableGateway, with_key, write
from bot.storage.schema import backfills, digest_issues, lock_index, repositories, scan_issues, texts


@dataclass(frozen=True, slots=True)
class StoredRepository(Repository):
    """A repository as of the last event. `installation` is None until an event has named the installation."""

    installation: int | None = None
    suspended: bool = False

    @property
    def summary(self) -> Repository:
        """The part of the row that webhooks contain."""
        return Repository(self.id, self.ref, self.private, self.archived)


_BY_ID = sa.select(repositories).where(with_key(repositories, "repo_id"))
_LATEST_FIRST = (repositories.c.updated_at.desc(), repositories.c.repo_id.desc())
_BY_NAME = sa.select(repositories).where(with_key(repositories, "lookup")).order_by(*_LATEST_FIRST).limit(1)


class Repositories(TableGateway):
    """The `repositories` table. `Store.forget` erases a repository here and in the other tables."""

    def upsert(self, repository: Repository, installation: int | None, now: float) -> None:
        """Store a repository. If `installation` is None (unknown), the stored installation stays."""
        ref, flags = repository.ref, {"private": repository.private, "archived": repository.archived}
        changes: dict[str, Any] = {"owner": ref.owner, "name": ref.name, "lookup": ref.key, **flags, "updated_at": now}
        if installation is not None:
            changes["installation"] = installation
        new_row = {"repo_id": repository.id, "installation": installation, "suspended": False} | changes
        insert = self._insert(repositories).values(**new_row)
        with write(self._engine) as connection:
            # `Store.forget` takes this lock too. A lock on the row would not do: the row may not exist yet.
            lock_index(connection, repository.id)
            connection.execute(insert.on_conflict_do_update(index_elements=["repo_id"], set_=changes))

    def get(self, repo_id: int) -> StoredRepository | None:
        return (row := self._first(_BY_ID, repo_id=repo_id)) and _stored(row)

    def by_name(self, ref: RepoRef) -> StoredRepository | None:
        """The repository with this name, ignoring case. If several rows have the name, the one updated last."""
        return (row := self._first(_BY_NAME, lookup=ref.key)) and _stored(row)

    def list(self, installation: int | None = None) -> list[StoredRepository]:
        """The repositories of an installation, or all, by name."""
        query = sa.select(repositories).order_by(repositories.c.lookup, repositories.c.repo_id)
        if installation is not None:
            query = query.where(repositories.c.installation == installation)
        return [_stored(row) for row in self._all(query)]

    def suspend(self, installation: int, suspended: bool) -> None:
        """Mark all repositories of an installation as suspended or not."""
        update = sa.update(repositories).where(repositories.c.installation == installation)
        self._change(update.values(suspended=suspended))

    def lock_and_get(self, connection: sa.Connection, repo_id: int) -> StoredRepository | None:
        """The repository, if stored. Until the transaction ends, nobody else can change or add its row."""
        lock_index(connection, repo_id)
        query = sa.select(repositories).where(repositories.c.repo_id == repo_id).with_for_update()
        row = connection.execute(query).first()
        return None if row is None else _stored(row)


def _stored(row: sa.Row[Any]) -> StoredRepository:
    return StoredRepository(
        row.repo_id, RepoRef(row.owner, row.name), row.private, row.archived, row.installation, row.suspended
    )


class OwnIssueKind(StrEnum):
    """The bot's own issues: `SCAN` lists the groups of duplicates in the backlog, `DIGEST` the last week's work."""

    SCAN = "scan"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """The bot's own issue. `number` is None while nobody knows whether the issue was opened."""

    number: int | None
    updated_at: float


class OwnIssues(TableGateway):
    def __init__(self, engine: sa.Engine, kind: OwnIssueKind) -> None:
        super().__init__(engine)
        self.kind = kind
        self._table = scan_issues if kind is OwnIssueKind.SCAN else digest_issues

    def get(self, repo_id: int) -> StoredIssue | None:
        """The issue; None if there was none, or it was deleted."""
        table = self._table
        row = self._first(sa.select(table.c.number, table.c.updated_at).where(table.c.repo_id == repo_id))
        return row and StoredIssue(*row)

    def set(self, repo_id: int, number: int | None, now: float) -> None:
        """Record the issue's number. None means that the bot is about to open the issue."""
        values = {"number": number, "updated_at": now}
        self._change(self._upsert(self._table, {"repo_id": repo_id}, values))

    def drop(self, repo_id: int) -> None:
        self._change(sa.delete(self._table).where(self._table.c.repo_id == repo_id))


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of a repository as last fetched; `text` is None if the repository lacks the file."""

    text: str | None
    fetched_at: float

    def is_fresh(self, now: float, seconds: float) -> bool:
        # `abs`: a time far ahead of now was recorded before somebody set the clock back.
        return abs(now - self.fetched_at) < seconds


_FILE = sa.select(texts.c.text, texts.c.fetched_at).where(with_key(texts, "repo_id", "name"))


class CachedFiles(TableGateway):
    """The `texts` table: cached files by repository and a name that the caller chooses."""

    def get(self, repo_id: int, name: str) -> CachedFile | None:
        """The file as last fetched; None if it never was."""
        row = self._first(_FILE, repo_id=repo_id, name=name)
        return row and CachedFile(*row)

    def put(self, repo_id: int, name: str, text: str | None, now: float) -> None:
        """Cache a file. NUL characters, which PostgreSQL cannot store, become U+FFFD."""
        values = {"text": None if text is None else text.replace("\0", "\ufffd"), "fetched_at": now}
        self._change(self._upsert(texts, {"repo_id": repo_id, "name": name}, values))

    def drop(self, repo_id: int) -> None:
        self._change(sa.delete(texts).where(texts.c.repo_id == repo_id))


OFF = "its settings say mode: off"
"""The `Progress.problem` of a repository that its maintainers do not want indexed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a backfill, the first reading of a repository's issues.

    `cursor` is the position to continue from (`issue_pages.PagePosition`), empty at the start. `etag` is the first
    page's ETag: requests with it cost nothing while nothing has changed. `seen` of about `expected` issues have been
    read. `problem` says why the backfill does not continue at the moment; it is empty otherwise.
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
        """How many issues the repository has; None if unknown."""
        return self.seen if self.done else self.expected

    @property
    def stopped(self) -> bool:
        """Whether `Indexer.stop` recorded the `problem` (`updated_at` is 0). No retry is queued."""
        return self.problem != "" and not self.updated_at


class Backfills(TableGateway):
    def get(self, repo_id: int) -> Progress | None:
        """The progress; None if the backfill has not begun."""
        with self._engine.connect() as connection:
            return _progress(connection, repo_id)

    def complete(self, repo_id: int) -> bool:
        """Whether all issues of a repository have been read, so that its index is complete."""
        progress = self.get(repo_id)
        return progress is not None and progress.done

    def set(self, repo_id: int, progress: Progress) -> None:
        """Store the progress. Call this after storing the issues: after a crash in between, they are read again."""
        self._change(self._put(repo_id, progress))

    def replace(self, repo_id: int, before: Progress | None, after: Progress) -> bool:
        """Store the progress if the stored progress still equals `before`; False otherwise.

        The two differ if another worker has made progress, or if the repository was erased with its index.
        """
        with write(self._engine) as connection:
            # `Store.forget` takes this lock too.
            lock_index(connection, repo_id)
            if _progress(connection, repo_id) != before:
                return False
            connection.execute(self._put(repo_id, after))
            return True

    def _put(self, repo_id: int, progress: Progress) -> Any:
        return self._upsert(backfills, {"repo_id": repo_id}, asdict(progress))


_PROGRESS = sa.select(backfills).where(with_key(backfills, "repo_id"))


def _progress(connection: sa.Connection, repo_id: int) -> Progress | None:
    row = connection.execute(_PROGRESS, {"repo_id": repo_id}).first()
    # After `repo_id`, the columns come in the order of the fields.
    return None if row is None else Progress(*row[1:])
