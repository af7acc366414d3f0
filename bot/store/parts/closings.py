"""Which issues the comment has offered to close after some time, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import sqlalchemy as sa

from bot.store.parts.base import Part
from bot.store.tables.closings import closings as table


class ClosingState(StrEnum):
    """`OVER` is for good: somebody objected, or took it back; the same issue is not offered again."""

    OFFERED = "offered"
    CLOSED = "closed"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class KeptClosing:
    """The offer to close issue `number` in favour of `other`, announced at `since` (seconds since 1970) for `days`."""

    number: int
    other: int
    days: int
    since: float
    state: ClosingState


class Closings(Part):
    """The `closings` table."""

    def get(self, repo_id: int, number: int) -> KeptClosing | None:
        """What is known of one issue."""
        return next(iter(self._find(table.c.repo_id == repo_id, table.c.number == number)), None)

    def due(self, repo_id: int, now: float) -> list[KeptClosing]:
        """The offers of a repository whose time has come, the oldest first."""
        late = table.c.since + table.c.days * 86_400.0 <= now
        return self._find(table.c.repo_id == repo_id, table.c.state == ClosingState.OFFERED, late)

    def put(self, repo_id: int, closing: KeptClosing) -> None:
        """Note an offer, or what came of it."""
        values = {
            "other": closing.other,
            "days": closing.days,
            "since": closing.since,
            "state": closing.state.value,
        }
        self._change(self._upsert(table, {"repo_id": repo_id, "number": closing.number}, values))

    def end(self, repo_id: int, closing: KeptClosing) -> None:
        """Note that it is over for good."""
        self.put(repo_id, replace(closing, state=ClosingState.OVER))

    def drop(self, repo_id: int, number: int) -> None:
        """Forget an offer that the comment no longer makes."""
        mine = sa.and_(table.c.repo_id == repo_id, table.c.number == number)
        self._change(sa.delete(table).where(mine, table.c.state == ClosingState.OFFERED))

    def _find(self, *conditions: sa.ColumnElement[bool]) -> list[KeptClosing]:
        rows = self._all(sa.select(table).where(*conditions).order_by(table.c.since, table.c.number))
        return [KeptClosing(row.number, row.other, row.days, row.since, ClosingState(row.state)) for row in rows]
