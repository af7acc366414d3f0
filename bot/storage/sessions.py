"""Stores the sessions of people who have signed in to the dashboard."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from bot.storage.engine import TableGateway
from bot.storage.schema import sessions

HOURS = 8
"""How long a session lasts. Meanwhile `bot.interfaces.dashboard.sign_in` rechecks the person's permissions."""

# Seconds by which another machine's clock may be ahead of this one's.
_AHEAD = 60.0


@dataclass(frozen=True, slots=True)
class Session:
    """A person, and the ids of the repositories in which they could triage when signing in."""

    login: str
    repositories: tuple[int, ...] = ()


class Sessions(TableGateway):
    """The `sessions` table, with hashes of the sessions' names. A name is a random token that only the browser has."""

    def begin(self, session: Session, now: float) -> str:
        name = secrets.token_urlsafe(32)
        ids = json.dumps(session.repositories)
        self._change(sa.insert(sessions).values(key=_key(name), login=session.login, repositories=ids, at=now))
        return name

    def get(self, name: str, now: float) -> Session | None:
        """The session of that name; None if it is unknown or over."""
        valid = (sessions.c.at >= now - HOURS * 3600, sessions.c.at <= now + _AHEAD)
        query = sa.select(sessions.c.login, sessions.c.repositories).where(sessions.c.key == _key(name), *valid)
        row = self._first(query)
        return None if row is None else Session(row.login, tuple(json.loads(row.repositories)))

    def end(self, name: str) -> None:
        self._change(sa.delete(sessions).where(sessions.c.key == _key(name)))

    def prune(self, now: float) -> int:
        """Forget sessions that are over; returns how many."""
        return self._change(sa.delete(sessions).where(sessions.c.at < now - HOURS * 3600))


def _key(name: str) -> str:
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()
