"""A workflow's token in the App's place (X2): everything is asked and done with it, and it sees one repository.

https://docs.github.com/actions/concepts/security/github_token
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import httpx

from bot.domain.entities import RepoRef
from bot.github.app import AppClient, AppInfo
from bot.github.calls import Api
from bot.github.client import GitHub
from bot.github.repository import RepoClient

INSTALLATION = 1
"""What the token is to the rest of the bot, which knows repositories by their installations; no App has this number."""

_WHO = "query { viewer { login } }"


class TokenGitHub(GitHub):
    """GitHub as whoever has one token sees it. `refused` are the permissions that it turned out to lack."""

    def __init__(self, token: str, **options: Any) -> None:
        self.refused: set[str] = set()
        super().__init__(**options)
        self._connections = _Refusals(self._connections, self.refused)
        self._api_of_token = self._token_api(token)

    def app(self) -> AppClient:
        """What is asked of the App elsewhere, as far as a token can answer it."""
        return _TokenClient(self._api_of_token, self.login)

    def installation(self, installation_id: int, *, repository_ids: Sequence[int] = ()) -> RepoClient:
        """The token's client, whichever installation is meant."""
        return RepoClient(self._api_of_token, self.tracker)

    def login(self) -> str:
        """Whose token it is: `github-actions[bot]`, another App's bot, or a person."""
        return self._login

    @cached_property
    def _login(self) -> str:
        # Of the REST API only people's tokens learn that.
        data, _ = self._api_of_token.graphql("ask whose token this is", _WHO, {})
        return str((data.get("viewer") or {}).get("login") or "")


class _TokenClient(AppClient):
    def __init__(self, api: Api, login: Callable[[], str]) -> None:
        super().__init__(api, lambda _: api, lambda: None)
        self._login = login

    def get_app(self) -> AppInfo:
        """Whose token it is; a person's has no App, and no name of one to be called by."""
        login = self._login()
        return AppInfo(login.removesuffix("[bot]") if login.endswith("[bot]") else "", {}, ())

    def installation_of(self, repo: RepoRef) -> int:
        """The token itself."""
        return INSTALLATION


_LACKING = b"Resource not accessible by"
_NEEDED = re.compile(r"\b(issues|contents)=(read|write)\b")


class _Refusals(httpx.BaseTransport):
    """Notes what the token may not do, also where the work goes on without, and then only finds less."""

    def __init__(self, inner: httpx.BaseTransport, refused: set[str]) -> None:
        self._inner = inner
        self._refused = refused
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if response.status_code == 403 and _LACKING in response.read():
            needed = _NEEDED.search(response.headers.get("x-accepted-github-permissions", ""))
            with self._lock:
                self._refused.add(f"{needed[1]}: {needed[2]}" if needed else _by_path(request))
        return response

    def close(self) -> None:
        self._inner.close()


def _by_path(request: httpx.Request) -> str:
    """The permission by what was asked, for a server that does not name it."""
    if "/contents/" in request.url.path:
        return "contents: read"
    return "issues: read" if request.method == "GET" else "issues: write"
