"""Who is signed in: a signed cookie with a login and the repositories that were offered, and nothing else."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeTimedSerializer

from bot.pages.signed import read_signed

HOURS = 8
"""How long a session lasts. What its person may do is asked anew all the time (`bot.dashboard.access`)."""

# A cookie holds 4 kB; whoever looks after more repositories finds the others by their address.
_MOST = 250


@dataclass(frozen=True, slots=True)
class Session:
    """A person, and the ids of repositories that they looked after when they signed in."""

    login: str
    repositories: tuple[int, ...] = ()


class Sessions:
    """Signs and reads the cookie, with a key made of the App's client secret, so that all web processes have it."""

    def __init__(self, client_secret: str) -> None:
        key = hmac.digest(client_secret.encode(), b"doppel dashboard", hashlib.sha256)
        self._serializer = URLSafeTimedSerializer(key, salt="session")

    def write(self, session: Session) -> str:
        """The cookie's value."""
        return str(self._serializer.dumps([session.login, session.repositories[:_MOST]]))

    def read(self, value: str) -> Session | None:
        """The session of a cookie; None for one that is forged, over, or not there."""
        try:
            login, repositories = read_signed(self._serializer, value, HOURS * 3600)
        except (BadData, ValueError):
            return None
        return Session(login, tuple(repositories))
