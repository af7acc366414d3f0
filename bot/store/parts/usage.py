"""How many commands a person has given lately, for the rate limit of C5."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from bot.model import name_key
from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import usage


class Usage(Part):
    """A sliding window for each person in each repository."""

    def allow(self, repo_id: int, login: str, uses: Collection[str], *, limit: int, window: float, now: float) -> bool:
        """Whether these uses keep within `limit` in the last `window` seconds; if so, they are counted, else none is.

        `uses` are names (of commands in a comment, say), each given once: the same ones again, as in a retry, are
        allowed and not counted twice.
        """
        login = name_key(login)
        mine = sa.and_(usage.c.repo_id == repo_id, usage.c.login == login)
        with write(self._engine) as connection:
            # PostgreSQL has no one writer as SQLite has; without this lock two uses at once could both be the last.
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"{repo_id}/{login}"))))
            # What lies far ahead of this clock is from before that was set back.
            over = sa.or_(usage.c.at <= now - window, usage.c.at > now + window)
            connection.execute(sa.delete(usage).where(mine, over))
            known = connection.execute(sa.select(usage.c.use).where(mine)).scalars().all()
            new = [use for use in uses if use not in known]
            if new and len(known) + len(new) > limit:
                return False
            if new:
                rows = [{"repo_id": repo_id, "login": login, "use": use, "at": now} for use in new]
                connection.execute(sa.insert(usage), rows)
        return True

    def prune(self, before: float) -> int:
        """Forget what was given before a time (seconds since 1970) by whoever has not come again; how many rows."""
        return self._change(sa.delete(usage).where(usage.c.at <= before))
