"""The one advisory comment of each issue, so that a retry, a crash or a redelivery never posts a second (C2).

An issue's way: `claim` before anything is written on GitHub, then `record` with the comment, or with none where there
was nothing to say. A claim that finds `intended` from an earlier attempt does not know whether that attempt's comment
was created; the caller then looks for the marker on GitHub before it writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa

from bot.store.base import Part
from bot.store.schema import posted


class PostedState(StrEnum):
    """Where an issue's comment stands. `DELETED` is for good: what a maintainer deleted is never posted again (C1)."""

    INTENDED = "intended"
    POSTED = "posted"
    SILENT = "silent"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class PostedComment:
    """The comment of an issue. `text_hash` is of the issue's title and body that it answers, `body_hash` its own."""

    repo_id: int
    number: int
    state: PostedState
    comment_id: int | None
    text_hash: str
    body_hash: str


class Posted(Part):
    """The `posted` table."""

    def get(self, repo_id: int, number: int) -> PostedComment | None:
        """What is known of this issue's comment, None for an issue never looked at."""
        query = sa.select(posted).where(posted.c.repo_id == repo_id, posted.c.number == number)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        return PostedComment(
            row.repo_id, row.number, PostedState(row.state), row.comment_id, row.text_hash, row.body_hash
        )

    def claim(self, repo_id: int, number: int, now: float) -> PostedComment | None:
        """Note that a comment is about to be written, and return what was known before.

        A comment that is posted or deleted stays what it is.
        """
        before = self.get(repo_id, number)
        insert = self._insert(posted).values(
            repo_id=repo_id,
            number=number,
            state=PostedState.INTENDED,
            comment_id=None,
            text_hash="",
            body_hash="",
            updated_at=now,
        )
        with self._engine.begin() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["repo_id", "number"],
                    set_={"state": PostedState.INTENDED, "updated_at": now},
                    where=posted.c.state == PostedState.SILENT,
                )
            )
        return before

    def record(
        self, repo_id: int, number: int, *, text_hash: str, comment_id: int | None, body_hash: str = "", now: float
    ) -> None:
        """Note which text has been answered, and with which comment; None where there was nothing to say.

        Has no effect on a comment that a maintainer deleted.
        """
        values = {
            "state": PostedState.SILENT if comment_id is None else PostedState.POSTED,
            "comment_id": comment_id,
            "text_hash": text_hash,
            "body_hash": body_hash,
            "updated_at": now,
        }
        insert = self._insert(posted).values(repo_id=repo_id, number=number, **values)
        with self._engine.begin() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["repo_id", "number"], set_=values, where=posted.c.state != PostedState.DELETED
                )
            )

    def mark_deleted(self, repo_id: int, number: int, comment_id: int, now: float) -> bool:
        """Note that a maintainer deleted the comment; False if it was not this issue's advisory comment."""
        with self._engine.begin() as connection:
            changed = connection.execute(
                sa.update(posted)
                .where(posted.c.repo_id == repo_id, posted.c.number == number, posted.c.comment_id == comment_id)
                .values(state=PostedState.DELETED, updated_at=now)
            )
        return changed.rowcount > 0
