"""How far the first reading of a repository's issues has come: kept, so that it goes on after a restart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.index import backfills as table
from bot.store.tables.index import lock_index

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
            return _get(connection, repo_id)

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
            if _get(connection, repo_id) != before:
                return False
            connection.execute(self._put(repo_id, after))
            return True

    def _put(self, repo_id: int, progress: Progress) -> Any:
        return self._upsert(table, {"repo_id": repo_id}, asdict(progress))


def _get(connection: sa.Connection, repo_id: int) -> Progress | None:
    row = connection.execute(sa.select(table).where(table.c.repo_id == repo_id)).first()
    return None if row is None else Progress(*row[1:])
