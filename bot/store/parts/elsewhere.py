"""Issues of other repositories of which people said that they are another thing than one of this (C4 `not`).

Decisions about two issues of one repository are `Verdicts`, which hold in both directions. These hold in this one
alone: what is shown elsewhere is for the people there to decide.
"""

from __future__ import annotations

import sqlalchemy as sa

from bot.judgements import Rejection
from bot.store.parts.base import Part
from bot.store.tables.schema import rejected_elsewhere as table


class Elsewhere(Part):
    """The `rejected_elsewhere` table."""

    def add(self, repo_id: int, said: Rejection) -> None:
        """Keep what was said. Said by this very command before, it holds again if it was taken back meanwhile."""
        values = {"actor": said.actor, "at": said.at, "undone_at": None, "undone_by": None}
        key = {"repo_id": repo_id, "number": said.number, "issue": said.issue, "command_id": said.command_id}
        self._change(self._upsert(table, key, values, where=table.c.undone_at.is_not(None)))

    def rejected(self, repo_id: int, number: int) -> set[str]:
        """The issues elsewhere that are never shown for this one."""
        return {said.issue for said in self.of_issue(repo_id, number) if said.undone_by is None}

    def of_issue(self, repo_id: int, number: int) -> list[Rejection]:
        """All that was said on an issue, oldest first, also what was taken back since."""
        columns = (table.c.number, table.c.issue, table.c.actor, table.c.at, table.c.command_id, table.c.undone_by)
        mine = sa.select(*columns).where(table.c.repo_id == repo_id, table.c.number == number)
        return [Rejection(*row) for row in self._all(mine.order_by(table.c.at, table.c.command_id))]

    def undo(self, repo_id: int, said: Rejection, command_id: int, now: float) -> None:
        """Take it back for the command in this comment, unless that was done before."""
        this = (
            table.c.repo_id == repo_id,
            table.c.number == said.number,
            table.c.issue == said.issue,
            table.c.command_id == said.command_id,
            table.c.undone_by.is_(None),
        )
        self._change(sa.update(table).where(*this).values(undone_at=now, undone_by=command_id))
