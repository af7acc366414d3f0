"""Which commands have been heeded, so that no delivery can have them carried out a second time (C4).

What a comment said at one time is heeded once: by the delivery that came first, each of whose tries goes on with it
until it is done. What the comment said before that is not heeded any more.
"""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import heeded


class Heeded(Part):
    """The `heeded` table. `said_at` is GitHub's time of the comment's text, `text_hash` is of that and the commands."""

    def begin(self, repo_id: int, number: int, comment_id: int, *, said_at: str, text_hash: str, delivery: str) -> bool:
        """Whether this delivery is to carry out these commands: they are new, or it has begun and not done them.

        GitHub's times are whole seconds. Of what was said within one, each text counts as the newest.
        """
        mine, newest = _of(heeded, repo_id, number, comment_id), heeded.alias()
        last = sa.select(sa.func.max(newest.c.said_at)).where(_of(newest, repo_id, number, comment_id))
        key = {"repo_id": repo_id, "number": number, "comment_id": comment_id, "text_hash": text_hash}
        insert = self._insert(heeded).values(**key, said_at=said_at, delivery=delivery, done=False)
        begun = sa.select(heeded.c.done).where(mine, heeded.c.text_hash == text_hash, heeded.c.delivery == delivery)
        with write(self._engine) as connection:
            connection.execute(insert.on_conflict_do_nothing())
            # This one too, if something later was heeded before.
            connection.execute(sa.delete(heeded).where(mine, heeded.c.said_at < last.scalar_subquery()))
            return connection.execute(begun).scalar_one_or_none() is False

    def end(self, repo_id: int, number: int, comment_id: int, *, text_hash: str) -> None:
        """Note that these commands were carried out, and answered."""
        mine = sa.and_(_of(heeded, repo_id, number, comment_id), heeded.c.text_hash == text_hash)
        self._change(sa.update(heeded).where(mine).values(done=True))


def _of(table: sa.FromClause, repo_id: int, number: int, comment_id: int) -> sa.ColumnElement[bool]:
    columns = table.c
    return sa.and_(columns.repo_id == repo_id, columns.number == number, columns.comment_id == comment_id)
