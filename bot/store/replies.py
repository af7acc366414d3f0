"""Which reply answers which command, so that an edited command edits its reply and a redelivery does nothing (C2)."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.base import Part
from bot.store.schema import replies


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the command in comment `command_id`; `reply_id` is None while none has been written.

    `command_hash` is that of the command's text as it was answered.
    """

    repo_id: int
    number: int
    command_id: int
    reply_id: int | None
    command_hash: str


class Replies(Part):
    """The `replies` table."""

    def get(self, repo_id: int, command_id: int) -> Reply | None:
        """The reply to the command in this comment, None for one never seen."""
        query = sa.select(replies).where(replies.c.repo_id == repo_id, replies.c.command_id == command_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        return None if row is None else Reply(row.repo_id, row.number, row.command_id, row.reply_id, row.command_hash)

    def record(
        self, repo_id: int, number: int, command_id: int, *, command_hash: str, reply_id: int | None, now: float
    ) -> None:
        """Note that this text of the command is answered. A `reply_id` of None keeps the reply that there is.

        Commands that are answered by a reaction or by the advisory comment alone have no reply.
        """
        values = {"number": number, "command_hash": command_hash, "updated_at": now}
        insert = self._insert(replies).values(repo_id=repo_id, command_id=command_id, reply_id=reply_id, **values)
        if reply_id is not None:
            values["reply_id"] = reply_id
        with self._engine.begin() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["repo_id", "command_id"], set_=values))
