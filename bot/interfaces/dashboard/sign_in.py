"""Signing in with GitHub: the person goes there, comes back with a code, and the code tells who they are.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app

Their token is used for two questions and forgotten: nothing is ever done in their name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

import requests

from bot.domain.errors import DoppelError, Unavailable
from bot.github.app import VisitorClient
from bot.platform.local import is_here
from bot.storage.sessions import Session

_SECONDS = 10


class NotSignedIn(DoppelError):
    """GitHub did not say who it is; the message says why and holds no secret."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """`web` is the root of GitHub's pages; `visitor` makes the client of a person's token."""

    web: str
    client_id: str
    client_secret: str = field(repr=False)
    visitor: Callable[[str], VisitorClient]

    def address(self, state: str, back: str) -> str:
        """GitHub's page that asks the person; it sends them `back` with a code and the same state."""
        query = {"client_id": self.client_id, "state": state, "redirect_uri": back, "allow_signup": "false"}
        return f"{self.web}/login/oauth/authorize?{urlencode(query)}"

    def who(self, code: str, back: str) -> Session:
        """The person who came back with this code. Raises NotSignedIn, Unavailable and what GitHub's client raises."""
        visitor = self.visitor(self._token(code, back))
        return Session(visitor.login(), tuple(visitor.repositories_to_triage()))

    def _token(self, code: str, back: str) -> str:
        said = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "code": code,
            "redirect_uri": back,
        }
        with requests.Session() as session:
            session.trust_env = not is_here(self.web)
            try:
                answer = session.post(
                    f"{self.web}/login/oauth/access_token",
                    data=said,
                    headers={"Accept": "application/json"},
                    timeout=_SECONDS,
                    allow_redirects=False,
                )
                data = answer.json()
            except (requests.RequestException, ValueError) as problem:
                raise Unavailable(f"GitHub does not answer ({type(problem).__name__})") from problem
        token = data.get("access_token") if isinstance(data, dict) else None
        if not isinstance(token, str):
            # Refusals have status 200 and a word such as bad_verification_code.
            word = str(data.get("error", answer.status_code) if isinstance(data, dict) else answer.status_code)
            raise NotSignedIn(f"GitHub refused the sign-in ({word[:60]})")
        return token
