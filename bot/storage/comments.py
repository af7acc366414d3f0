"""Records the bot's own comments, so that a retry, crash or redelivery never posts a comment twice (C2).

An issue has one advisory comment, with `ADVISORY` as `command_id`. Any other comment by the bot
answers commands, and `command_id` is the id of the comment with the commands. The caller
(`bot.conversation.comments`) claims the comment, writes on GitHub or stays silent, and settles the claim.
If the claim's outcome is `DOUBTFUL`, the caller first looks on GitHub for an earlier attempt's comment.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.storage.engine import TableGateway, with_key, write
from bot.storage.schema import comments

ADVISORY = 0


class CommentState(StrEnum):
    """A comment's state. `INTENDED`: claimed; `SILENT`: not written; `DELETED`: by a maintainer, for good (C1)."""

    INTENDED = "intended"
    POSTED = "posted"
    SILENT = "silent"
    DELETED = "deleted"


class ClaimOutcome(StrEnum):
    """The answer to a claim.

    `CLEAR`: claimed; no earlier attempt can have written the comment. `DOUBTFUL`: claimed, but an earlier attempt may
    have written it. `BUSY`: another attempt has the claim. `SETTLED`: the comment is posted, or deleted for good.
    """

    CLEAR = "clear"
    DOUBTFUL = "doubtful"
    BUSY = "busy"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class StoredComment:
    """A comment as last written.

    `text_hash` is the hash of the text that the comment answers, `body_hash` the hash of the comment's own text; None
    if unknown. `shown` are the candidates that the comment last showed, even if it now says "nothing left". An
    attempt compares `updated_at` to notice that another attempt has written the row.
    """

    state: CommentState
    comment_id: int | None
    text_hash: str | None
    body_hash: str | None
    shown: tuple[int, ...] = ()
    updated_at: float = 0.0


_KEY = ("repo_id", "number", "command_id")
# A claim with this time has expired, so the next claim succeeds at once, as `DOUBTFUL`.
_LONG_AGO = 0.0
# Updates must not touch a comment that a maintainer deleted.
_NOT_DELETED = comments.c.state != CommentState.DELETED
_ID_UNKNOWN = comments.c.comment_id.is_(None)
_NOTHING_SHOWN = "[]"
_EMPTY = {"comment_id": None, "text_hash": "", "body_hash": "", "shown": _NOTHING_SHOWN}
_ROW = sa.select(comments).where(with_key(comments, *_KEY))


class Comments(TableGateway):
    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        insert = self._insert(comments)
        new = insert.excluded
        is_free = sa.and_(_ID_UNKNOWN, comments.c.state != CommentState.INTENDED)
        changes = {
            "state": sa.case((is_free, new.state), else_=comments.c.state),
            "text_hash": new.text_hash,
            "shown": sa.case((new.shown == _NOTHING_SHOWN, comments.c.shown), else_=new.shown),
            "updated_at": new.updated_at,
        }
        self._silent_upsert = insert.on_conflict_do_update(index_elements=_KEY, set_=changes, where=_NOT_DELETED)

    def get(self, repo_id: int, number: int, command_id: int = ADVISORY) -> StoredComment | None:
        """The stored comment; None if there never was a row."""
        row = self._first(_ROW, repo_id=repo_id, number=number, command_id=command_id)
        if row is None:
            return None
        # These columns store None as an empty text.
        hashes = (row.text_hash or None, row.body_hash or None)
        shown = tuple(json.loads(row.shown))
        return StoredComment(CommentState(row.state), row.comment_id, *hashes, shown, row.updated_at)

    def shown(self, repo_id: int, numbers: Collection[int]) -> dict[int, tuple[int, ...]]:
        """The candidates that the advisory comment of each issue last showed; only issues with a row."""
        if not numbers:
            return {}
        where = (comments.c.repo_id == repo_id, comments.c.number.in_(numbers), comments.c.command_id == ADVISORY)
        rows = self._all(sa.select(comments.c.number, comments.c.shown).where(*where))
        return {row.number: tuple(json.loads(row.shown)) for row in rows}

    def claim(self, repo_id: int, number: int, command_id: int, *, now: float, lease: float) -> ClaimOutcome:
        """Claim the comment for `lease` seconds, in which nobody else may create it."""
        of_comment = _of_comment(repo_id, number, command_id)
        insert = self._new(repo_id, number, command_id, state=CommentState.INTENDED, updated_at=now)
        intend = sa.update(comments).values(state=CommentState.INTENDED, updated_at=now)
        silent = comments.c.state == CommentState.SILENT
        expired = sa.and_(comments.c.state == CommentState.INTENDED, comments.c.updated_at <= now - lease)
        # The clock was set back after this claim. The lease begins again: the holder may be alive.
        ahead = sa.and_(comments.c.state == CommentState.INTENDED, comments.c.updated_at > now + lease)
        with write(self._engine) as connection:
            if connection.execute(insert.on_conflict_do_nothing().returning(comments.c.number)).first():
                return ClaimOutcome.CLEAR
            if connection.execute(intend.where(of_comment, silent)).rowcount:
                return ClaimOutcome.CLEAR
            if connection.execute(intend.where(of_comment, expired)).rowcount:
                return ClaimOutcome.DOUBTFUL
            connection.execute(intend.where(of_comment, ahead))
            state = connection.execute(sa.select(comments.c.state).where(of_comment)).scalar_one()
        return ClaimOutcome.BUSY if state == CommentState.INTENDED else ClaimOutcome.SETTLED

    def claimed_at(self, repo_id: int, number: int, command_id: int) -> float | None:
        """When the comment was claimed; None without a claim."""
        where = sa.and_(_of_comment(repo_id, number, command_id), comments.c.state == CommentState.INTENDED)
        return self._scalar(sa.select(comments.c.updated_at).where(where))

    def renew(self, repo_id: int, number: int, command_id: int, *, since: float, now: float) -> bool:
        """Renew the claim made at `since`; False if somebody else has claimed the comment meanwhile."""
        state, at = comments.c.state, comments.c.updated_at
        where = sa.and_(_of_comment(repo_id, number, command_id), state == CommentState.INTENDED, at == since)
        return self._change(sa.update(comments).where(where).values(updated_at=now)) > 0

    def release(self, repo_id: int, number: int, command_id: int, *, since: float) -> None:
        """Give up the claim made at `since`: the next caller gets the comment at once, as `DOUBTFUL`."""
        self.renew(repo_id, number, command_id, since=since, now=_LONG_AGO)

    def settle(
        self,
        repo_id: int,
        number: int,
        command_id: int,
        *,
        comment_id: int | None,
        text_hash: str | None,
        body_hash: str | None,
        shown: Sequence[int],
        now: float,
        since: float,
    ) -> bool:
        """Record the outcome of an attempt: the comment `comment_id`, or none.

        `since` is the row's `updated_at` as the attempt last knew it. Without `shown`, the earlier candidates stay.
        Returns False, without effect, if the comment was deleted, or if somebody else has changed or erased the row.
        """
        where = sa.and_(_of_comment(repo_id, number, command_id), _NOT_DELETED, comments.c.updated_at == since)
        values = {
            "state": CommentState.SILENT if comment_id is None else CommentState.POSTED,
            "comment_id": comment_id,
            "text_hash": text_hash or "",
            "body_hash": body_hash or "",
            "updated_at": now,
        }
        if shown:
            values["shown"] = json.dumps(list(shown))
        return self._change(sa.update(comments).where(where).values(values)) > 0

    def adopt(self, repo_id: int, number: int, command_id: int, comment_id: int, now: float) -> None:
        """Record a comment that the bot found on GitHub, if there is no row yet. The hashes stay unknown."""
        found = self._new(repo_id, number, command_id, state=CommentState.POSTED, comment_id=comment_id, updated_at=now)
        self._change(found.on_conflict_do_nothing())

    def record_silence(
        self,
        repo_id: int,
        number: int,
        command_id: int = ADVISORY,
        *,
        text_hash: str | None,
        shown: Sequence[int] = (),
        now: float,
    ) -> None:
        """Record that the bot wrote nothing. If `text_hash` is None, no text counts as answered.

        An existing comment stays posted; without `shown`, its candidates stay too. A claim stays: the claimed comment
        may exist by now, so the next caller must look on GitHub first. Has no effect on a deleted comment.
        """
        key = {"repo_id": repo_id, "number": number, "command_id": command_id}
        answer = {"text_hash": text_hash or "", "shown": json.dumps(list(shown)), "updated_at": now}
        with write(self._engine) as connection:
            connection.execute(self._silent_upsert, _EMPTY | key | answer | {"state": CommentState.SILENT})

    def mark_body_unknown(self, repo_id: int, number: int, command_id: int, *, now: float) -> None:
        """Record that the comment's present text is unknown, so that the next attempt edits the comment.

        If the comment's id is unknown too, the next claim succeeds at once, as `DOUBTFUL`.
        """
        values = {
            "state": sa.case((_ID_UNKNOWN, CommentState.INTENDED.value), else_=comments.c.state),
            "text_hash": "",
            "body_hash": "",
            "updated_at": sa.case((_ID_UNKNOWN, _LONG_AGO), else_=now),
        }
        self._change(sa.update(comments).where(_of_comment(repo_id, number, command_id), _NOT_DELETED).values(values))

    def mark_unknown(self, repo_id: int, number: int, command_id: int) -> None:
        """Record that the comment's id and text are unknown: the next claim succeeds at once, as `DOUBTFUL`."""
        unknown = {"comment_id": None, "text_hash": "", "body_hash": ""}
        values = {"state": CommentState.INTENDED, **unknown, "updated_at": _LONG_AGO}
        self._change(sa.update(comments).where(_of_comment(repo_id, number, command_id), _NOT_DELETED).values(values))

    def mark_removed(self, repo_id: int, number: int, comment_id: int) -> None:
        """Record that the bot, not a maintainer, deleted a comment. So the bot may post another."""
        where = (comments.c.repo_id == repo_id, comments.c.number == number, comments.c.comment_id == comment_id)
        posted = comments.c.state == CommentState.POSTED
        self._change(sa.update(comments).where(*where, posted).values(state=CommentState.SILENT, comment_id=None))

    def mark_deleted(
        self, repo_id: int, number: int, comment_id: int, now: float, command_id: int | None = None
    ) -> bool:
        """Record that a maintainer deleted a comment. `command_id` is from the comment's hidden first line.

        Marks the row with `comment_id`. If no row has it, as after a lost answer from GitHub, marks or adds the row of
        `command_id`, if given. Changes no row with another comment's id. Returns False if no row was changed or added.
        """
        of_issue = sa.and_(comments.c.repo_id == repo_id, comments.c.number == number)
        gone = {"state": CommentState.DELETED, "updated_at": now}
        known = sa.update(comments).where(of_issue, comments.c.comment_id == comment_id).values(gone)
        if self._change(known) > 0:
            return True
        if command_id is None:
            return False
        insert = self._new(repo_id, number, command_id, comment_id=comment_id, **gone)
        return self._write(insert.on_conflict_do_update(index_elements=_KEY, set_=gone, where=_ID_UNKNOWN))

    def _new(self, repo_id: int, number: int, command_id: int, **known: Any) -> Any:
        """An INSERT of a comment with the `known` values; all other columns are empty."""
        return self._insert(comments).values(repo_id=repo_id, number=number, command_id=command_id, **_EMPTY | known)


def _of_comment(repo_id: int, number: int, command_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(comments.c.repo_id == repo_id, comments.c.number == number, comments.c.command_id == command_id)
