"""How many commands people have given lately, for the limits of C5."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from bot.model import name_key
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import repositories, usage


class Limit(NamedTuple):
    """At most so many uses in any stretch of so many seconds: of each person, or of all people `together`."""

    most: int
    seconds: float
    together: bool = False


class Usage(Part):
    """What was used in all repositories of an installation: GitHub counts what the bot writes by installation too."""

    def refuse(
        self, repo_id: int, login: str, uses: Collection[str], limits: Sequence[Limit], now: float
    ) -> Limit | None:
        """The first limit that stands against these uses; where none does, they are counted.

        `uses` are names (of commands in a comment, say), each given once: the same ones again, as in a retry, are
        allowed and not counted twice.
        """
        login, longest = name_key(login), max(limit.seconds for limit in limits)
        with write(self._engine) as connection:
            mine = sa.select(repositories.c.installation).where(repositories.c.repo_id == repo_id)
            installation = connection.execute(mine).scalar()
            # PostgreSQL has no one writer as SQLite has; without this lock two uses at once could both be the last.
            if connection.dialect.name == "postgresql":
                lock = sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"usage/{installation or repo_id}"))
                connection.execute(sa.select(lock))
            siblings = sa.select(repositories.c.repo_id).where(repositories.c.installation == installation)
            theirs = sa.or_(usage.c.repo_id == repo_id, usage.c.repo_id.in_(siblings))
            # What lies far ahead of this clock is from before that was set back.
            over = sa.or_(usage.c.at <= now - longest, usage.c.at > now + longest)
            connection.execute(sa.delete(usage).where(theirs, over))
            given = connection.execute(sa.select(usage).where(theirs)).all()
            known = {one.use for one in given if (one.repo_id, one.login) == (repo_id, login)}
            new = [use for use in uses if use not in known]
            for limit in limits:
                counted = [one for one in given if abs(now - one.at) < limit.seconds]
                spent = len(counted) if limit.together else sum(one.login == login for one in counted)
                if new and spent + len(new) > limit.most:
                    return limit
            if new:
                rows = [{"repo_id": repo_id, "login": login, "use": use, "at": now} for use in new]
                connection.execute(sa.insert(usage), rows)
        return None

    def prune(self, before: float) -> int:
        """Forget what was given before a time (seconds since 1970) by whoever has not come again; how many rows."""
        return self._change(sa.delete(usage).where(usage.c.at <= before))
