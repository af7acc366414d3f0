"""How far the first reading of a repository's issues has come: kept, so that it goes on after a restart."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.index.database import upsert
from bot.store.base import Part
from bot.store.engine import write
from bot.store.index_tables import backfills as table


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


class Backfills(Part):
    """The `backfills` table."""

    def get(self, repo_id: int) -> Progress | None:
        """None for a repository whose backfill has not begun."""
        with self._engine.connect() as connection:
            row = connection.execute(sa.select(table).where(table.c.repo_id == repo_id)).first()
        return None if row is None else Progress(*row[1:])

    def set(self, repo_id: int, progress: Progress) -> None:
        """Keep the progress, after the issues themselves: those of a crash in between are then read again."""
        values = (
            progress.cursor,
            progress.etag,
            progress.seen,
            progress.expected,
            progress.done,
            progress.problem,
            progress.updated_at,
        )
        with write(self._engine) as connection:
            upsert(connection, table, [(repo_id, *values)])
