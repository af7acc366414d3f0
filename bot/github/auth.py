"""Authenticates as the App (a signed token for ten minutes) or as one of its installations (a token for an hour).

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/about-authentication-with-a-github-app
githubkit fetches the tokens; this module gives it GitHub's clock to sign by, and a place to keep them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from githubkit.auth.app import AppAuth
from githubkit.auth.base import BaseAuthStrategy
from githubkit.cache import MemCache, MemCacheStrategy
from githubkit.utils import UNSET

from bot.github.transport import ServerClock
from bot.platform.keys import read_key

if TYPE_CHECKING:
    from githubkit import GitHubCore

# Seconds. GitHub takes ten minutes at most; the minute before now allows for clocks that differ.
_JWT_EARLIER, _JWT_LATER, _JWT_KEPT = 60, 540, 480


class Tokens(MemCache):
    """Tokens in memory, until shortly before they expire. Thread safe.

    `monotonic` counts seconds and never goes back; `server_clock` corrects what githubkit reckons by the host's clock.
    """

    def __init__(self, monotonic: Callable[[], float], server_clock: ServerClock) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._monotonic = monotonic
        self._server_clock = server_clock
        # Each with the moment at which it expires.
        self._tokens: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        """The token, if it is still good."""
        with self._lock:
            token, expires = self._tokens.get(key, ("", 0.0))
        return token if self._monotonic() < expires else None

    def set(self, key: str, value: str, ex: timedelta) -> None:
        """Keep an installation token for its hour less a minute: `ex` runs from our now to GitHub's `expires_at`."""
        self.keep(key, value, ex.total_seconds() - (self._server_clock.skew or 0.0))

    def keep(self, key: str, value: str, seconds: float) -> None:
        """Keep a token for so many seconds."""
        with self._lock:
            self._tokens[key] = (value, self._monotonic() + seconds)

    def forget(self) -> None:
        """Drop all tokens, because GitHub refuses them."""
        with self._lock:
            self._tokens.clear()


class TokenStore(MemCacheStrategy):
    """Gives githubkit the tokens of one client, in place of a cache that all clients of a process share."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__()
        self._tokens = tokens

    def get_cache_storage(self) -> Tokens:
        """The tokens."""
        return self._tokens


@dataclass(frozen=True, slots=True)
class AppCredentials(BaseAuthStrategy):
    """The App, or with `installation_id` one installation of it; `repository_ids` narrow its token to a few.

    A narrowed token costs one more token request an hour and repository. With it, a search query into which somebody
    has smuggled another name cannot see the installation's other private repositories.
    """

    app_id: int
    private_key: str = field(repr=False)
    server_clock: ServerClock
    tokens: Tokens
    installation_id: int | None = None
    repository_ids: Sequence[int] = ()

    def get_auth_flow(self, github: GitHubCore[Any]) -> AppAuth:
        """githubkit's flow that signs each request."""
        return _Signer(
            github,
            self.app_id,
            self.private_key,
            installation_id=UNSET if self.installation_id is None else self.installation_id,
            repository_ids=tuple(self.repository_ids) or UNSET,
            server_clock=self.server_clock,
            tokens=self.tokens,
        )


@dataclass(repr=False)
class _Signer(AppAuth):
    """githubkit's flow, with GitHub's clock, one fixed identity, and a `repr` that shows no key."""

    server_clock: ServerClock = field(kw_only=True)
    tokens: Tokens = field(kw_only=True)

    def get_jwt(self) -> str:
        """The App's token, signed anew every eight minutes."""
        key = f"doppel:jwt:{self.issuer}"
        if not (token := self.tokens.get(key)):
            now = int(self.server_clock.now())
            claims = {"iss": self.issuer, "iat": now - _JWT_EARLIER, "exp": now + _JWT_LATER}
            private = read_key(self.private_key)
            assert isinstance(private, RSAPrivateKey), "the settings take no other"
            token = jwt.encode(claims, private, algorithm="RS256")
            self.tokens.keep(key, token, _JWT_KEPT)
        return token

    def _get_api_route(self, url: httpx.URL) -> httpx.URL:
        """The route by which githubkit decides whether to sign as the App or as the installation.

        Each client here is only one of them. By the address itself, githubkit would take the label `installation` for a
        route of the App's, and trip over a `#`.
        """
        return httpx.URL("/app" if self.installation_id is UNSET else "/")
