"""Stores which commands the bot carried out, recent uses for limits, and muted issues."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from bot.domain.entities import name_key
from bot.storage.engine import TableGateway, lock, with_key, write
from bot.storage.schema import heeded, muted, repositories, usage


class HandledCommands(TableGateway):
    """The `heeded` table. `said_at` is the comment's `updated_at`. `text_hash` hashes `said_at` and the commands."""

    def begin(self, repo_id: int, number: int, comment_id: int, *, said_at: str, text_hash: str, delivery: str) -> bool:
        """Record a comment's commands, and return whether this delivery must carry them out.

        A delivery must carry out new commands, and those that the same delivery began but did not end. Only texts with
        the latest `said_at` count. Several texts can have this time, because GitHub's times are whole seconds.
        """
        where, alias = _of_comment(heeded, repo_id, number, comment_id), heeded.alias()
        last = sa.select(sa.func.max(alias.c.said_at)).where(_of_comment(alias, repo_id, number, comment_id))
        key = {"repo_id": repo_id, "number": number, "comment_id": comment_id, "text_hash": text_hash}
        insert = self._insert(heeded).values(**key, said_at=said_at, delivery=delivery, done=False)
        own_done = sa.select(heeded.c.done).where(where, heeded.c.text_hash == text_hash, heeded.c.delivery == delivery)
        with write(self._engine) as connection:
            connection.execute(insert.on_conflict_do_nothing())
            # This deletes the new row too, if the commands of a later text are stored already.
            connection.execute(sa.delete(heeded).where(where, heeded.c.said_at < last.scalar_subquery()))
            return connection.execute(own_done).scalar_one_or_none() is False  # None: no row of this delivery

    def end(self, repo_id: int, number: int, comment_id: int, *, text_hash: str) -> None:
        """Record that the delivery has carried out the commands."""
        where = sa.and_(_of_comment(heeded, repo_id, number, comment_id), heeded.c.text_hash == text_hash)
        self._change(sa.update(heeded).where(where).values(done=True))


def _of_comment(table: sa.FromClause, repo_id: int, number: int, comment_id: int) -> sa.ColumnElement[bool]:
    columns = table.c
    return sa.and_(columns.repo_id == repo_id, columns.number == number, columns.comment_id == comment_id)


_MUTED_BY = sa.select(muted.c.actor).where(with_key(muted, "repo_id", "number"))


class MutedIssues(TableGateway):
    def set(self, repo_id: int, number: int, actor: str, now: float) -> None:
        """Silence the bot on this issue. Only the first person who asks for silence is recorded."""
        insert = self._insert(muted).values(repo_id=repo_id, number=number, actor=actor, at=now)
        self._change(insert.on_conflict_do_nothing())

    def clear(self, repo_id: int, number: int) -> None:
        self._change(sa.delete(muted).where(muted.c.repo_id == repo_id, muted.c.number == number))

    def is_muted(self, repo_id: int, number: int) -> bool:
        return self.by(repo_id, number) is not None

    def by(self, repo_id: int, number: int) -> str | None:
        """The person who muted this issue; None if nobody has."""
        return self._scalar(_MUTED_BY, repo_id=repo_id, number=number)


class UsageLimit(NamedTuple):
    """A limit of `most` uses in `seconds` seconds: for each person, or for all if `together`."""

    most: int
    seconds: float
    together: bool = False


_INSTALLATION = sa.select(repositories.c.installation).where(with_key(repositories, "repo_id"))
_INSTALLATION_REPOS = sa.select(repositories.c.repo_id).where(with_key(repositories, "installation"))
_OF_INSTALLATION = sa.or_(with_key(usage, "repo_id"), usage.c.repo_id.in_(_INSTALLATION_REPOS))
_USES = sa.select(usage).where(_OF_INSTALLATION)
_FORGET_USES = sa.delete(usage).where(
    _OF_INSTALLATION, sa.or_(usage.c.at <= sa.bindparam("oldest"), usage.c.at > sa.bindparam("latest"))
)


class Usage(TableGateway):
    """The `usage` table: recent commands and other limited uses. A limit covers an installation."""

    def refuse(
        self, repo_id: int, login: str, uses: Collection[str], limits: Sequence[UsageLimit], now: float
    ) -> UsageLimit | None:
        """Return the first limit that forbids these uses. If all limits allow the uses, count them and return None.

        `uses` are unique names, such as one for each command of a comment. A retry may repeat uses; they count once.
        Limits cover the installation's repositories; without a known installation, this repository.
        """
        login, longest = name_key(login), max(limit.seconds for limit in limits)
        with write(self._engine) as connection:
            installation = connection.execute(_INSTALLATION, {"repo_id": repo_id}).scalar()
            # Without the lock, two simultaneous uses could both fill the last place under a limit.
            lock(connection, f"usage/{installation or repo_id}")
            # Forget rows far ahead of the clock, too: somebody has set the clock back.
            span = {"oldest": now - longest, "latest": now + longest}
            of_installation = {"repo_id": repo_id, "installation": installation}
            connection.execute(_FORGET_USES, of_installation | span)
            past = connection.execute(_USES, of_installation).all()
            known = {row.use for row in past if (row.repo_id, row.login) == (repo_id, login)}
            new = [use for use in uses if use not in known]
            for limit in limits:
                logins = [row.login for row in past if abs(now - row.at) < limit.seconds]
                # `together` counts only commands. Rows of other uses have a space in `login`.
                spent = sum(" " not in who for who in logins) if limit.together else logins.count(login)
                if new and spent + len(new) > limit.most:
                    return limit
            if new:
                rows = [{"repo_id": repo_id, "login": login, "use": use, "at": now} for use in new]
                connection.execute(sa.insert(usage), rows)
        return None

    def prune(self, before: float) -> int:
        """Forget uses up to a time (seconds since 1970); returns how many."""
        return self._change(sa.delete(usage).where(usage.c.at <= before))
