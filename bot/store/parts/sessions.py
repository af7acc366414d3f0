"""Who is signed in to the dashboard."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.parts.base import Part
from bot.store.tables.schema import sessions

HOURS = 8
"""How long a session lasts. What its person may do is asked anew all the time (`bot.dashboard.access`)."""

_AHEAD = 60.0
"""Seconds by which the clock of the machine that signed somebody in may be ahead of the one that reads the session."""


@dataclass(frozen=True, slots=True)
class Session:
    """A person, and the ids of the repositories in which they could triage when they signed in."""

    login: str
    repositories: tuple[int, ...] = ()


class Sessions(Part):
    """One row for each session. The browser has the session's name; only its hash is kept here."""

    def begin(self, session: Session, now: float) -> str:
        """Keep a session; returns its name, which nobody can guess."""
        name = secrets.token_urlsafe(32)
        ids = json.dumps(session.repositories)
        self._change(sa.insert(sessions).values(key=_key(name), login=session.login, repositories=ids, at=now))
        return name

    def get(self, name: str, now: float) -> Session | None:
        """The session of that name; None for one that is made up, over or ended."""
        row = self._first(
            sa.select(sessions.c.login, sessions.c.repositories).where(
                sessions.c.key == _key(name), sessions.c.at >= now - HOURS * 3600, sessions.c.at <= now + _AHEAD
            )
        )
        return None if row is None else Session(row.login, tuple(json.loads(row.repositories)))

    def end(self, name: str) -> None:
        """End a session for everybody who has its name."""
        self._change(sa.delete(sessions).where(sessions.c.key == _key(name)))

    def prune(self, now: float) -> int:
        """Forget sessions that are over; how many."""
        return self._change(sa.delete(sessions).where(sessions.c.at < now - HOURS * 3600))


def _key(name: str) -> str:
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()
