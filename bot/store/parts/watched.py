"""Which comments of the bot's own are looked at for reactions, and what was done about a 👎 (the `watched` table)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.judgements import Fold
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.parts.comments import ADVISORY, CommentState
from bot.store.tables.decisions import watched as table
from bot.store.tables.schema import comments


@dataclass(frozen=True, slots=True)
class Watched:
    """The advisory comment on issue `number`; `node_id` is GitHub's name for it in GraphQL, empty until it is known."""

    number: int
    comment_id: int
    node_id: str = ""
    fold: Fold = Fold.OPEN


class WatchedComments(Part):
    """Rows appear with the first look at a comment's reactions."""

    def latest(self, repo_id: int, since: float, most: int) -> list[Watched]:
        """The advisory comments that stand there and were written or edited at `since` or later, the last one first."""
        ours = sa.and_(table.c.repo_id == comments.c.repo_id, table.c.number == comments.c.number)
        query = (
            sa.select(comments.c.number, comments.c.comment_id, table.c.comment_id, table.c.node_id, table.c.fold)
            .select_from(comments.outerjoin(table, ours))
            .where(
                comments.c.repo_id == repo_id,
                comments.c.command_id == ADVISORY,
                comments.c.state == CommentState.POSTED,
                comments.c.comment_id.is_not(None),
                comments.c.updated_at >= since,
            )
            .order_by(comments.c.updated_at.desc(), comments.c.number.desc())
            .limit(most)
        )
        return [
            # A row of an earlier comment says nothing about this one.
            Watched(number, comment_id, node_id, Fold(fold)) if known == comment_id else Watched(number, comment_id)
            for number, comment_id, known, node_id, fold in self._all(query)
        ]

    def put(self, repo_id: int, watched: Sequence[Watched]) -> None:
        """Keep what is known of these comments now."""
        with write(self._engine) as connection:
            for one in watched:
                values = {"comment_id": one.comment_id, "node_id": one.node_id, "fold": one.fold.value}
                connection.execute(self._upsert(table, {"repo_id": repo_id, "number": one.number}, values))
