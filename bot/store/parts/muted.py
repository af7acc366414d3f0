"""The issues on which the bot has been asked to stay silent (C4 `mute`)."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.parts.base import Part
from bot.store.tables.schema import muted


class Muted(Part):
    """The `muted` table."""

    def set(self, repo_id: int, number: int, actor: str, now: float) -> None:
        """Silence the bot on this issue; who asked first stays on record."""
        insert = self._insert(muted).values(repo_id=repo_id, number=number, actor=actor, at=now)
        self._change(insert.on_conflict_do_nothing())

    def clear(self, repo_id: int, number: int) -> None:
        """Let the bot speak again."""
        self._change(sa.delete(muted).where(muted.c.repo_id == repo_id, muted.c.number == number))

    def is_muted(self, repo_id: int, number: int) -> bool:
        """Whether the bot must stay silent on this issue."""
        return self.by(repo_id, number) is not None

    def by(self, repo_id: int, number: int) -> str | None:
        """Who asked for silence on this issue; None where nobody has."""
        return self._scalar(sa.select(muted.c.actor).where(muted.c.repo_id == repo_id, muted.c.number == number))
