"""A client that uses a workflow's token instead of the App (X2). The token has access to a single repository.

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
"""A made-up id, because the bot expects each repository to have an installation."""

_VIEWER_QUERY = "query { viewer { login } }"


class TokenGitHub(GitHub):
    """GitHub as seen with a token. `refused` collects the permissions that the token turned out to lack."""

    def __init__(self, token: str, **options: Any) -> None:
        self.refused: set[str] = set()
        super().__init__(**options)
        self._connections = _Refusals(self._connections, self.refused)
        self._api_of_token = self._token_api(token)

    def app(self) -> AppClient:
        return _TokenClient(self._api_of_token, self.login)

    def installation(self, installation_id: int, *, repository_ids: Sequence[int] = ()) -> RepoClient:
        """The token's client; the arguments have no effect."""
        return RepoClient(self._api_of_token, self._tracker)

    def login(self) -> str:
        """The login of the token's account: `github-actions[bot]`, another App's bot, or a person."""
        return self._login

    @cached_property
    def _login(self) -> str:
        # Use GraphQL: in REST, only a person's token can ask for its account.
        data, _ = self._api_of_token.graphql("ask whose token this is", _VIEWER_QUERY, {})
        return str((data.get("viewer") or {}).get("login") or "")


class _TokenClient(AppClient):
    def __init__(self, api: Api, ask_login: Callable[[], str]) -> None:
        super().__init__(api, api_of=lambda _: api, skew=lambda: None)
        self._ask_login = ask_login

    def get_app(self) -> AppInfo:
        """The App whose bot owns the token; empty for a person's token."""
        login = self._ask_login()
        return AppInfo(login.removesuffix("[bot]") if login.endswith("[bot]") else "", {}, ())

    def installation_of(self, repo: RepoRef) -> int:
        return INSTALLATION


_LACKING = b"Resource not accessible by"
_NEEDED = re.compile(r"\b(issues|contents)=(read|write)\b")


class _Refusals(httpx.BaseTransport):
    """Records each missing permission, because callers may handle a refusal without telling anybody."""

    def __init__(self, inner: httpx.BaseTransport, refused: set[str]) -> None:
        self._inner = inner
        self._refused = refused
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if response.status_code == 403 and _LACKING in response.read():
            needed = _NEEDED.search(response.headers.get("x-accepted-github-permissions", ""))
            with self._lock:
                self._refused.add(f"{needed[1]}: {needed[2]}" if needed else _permission_by_path(request))
        return response

    def close(self) -> None:
        self._inner.close()


def _permission_by_path(request: httpx.Request) -> str:
    """Guess the permission that a request needs. Some servers do not name it in their refusal."""
    if "/contents/" in request.url.path:
        return "contents: read"
    return "issues: read" if request.method == "GET" else "issues: write"
