"""The entry point to GitHub: one object per process, which makes the clients of the App, installations and people.

The App signs its own tokens, which are valid for ten minutes at most. A token of an installation is valid for an hour:
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/about-authentication-with-a-github-app
githubkit fetches installations' tokens. This module signs the App's tokens by GitHub's clock. `Tokens` keeps them all.
"""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import githubkit
import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from githubkit.auth import BaseAuthStrategy, TokenAuthStrategy, UnauthAuthStrategy
from githubkit.auth.app import AppAuth
from githubkit.cache import MemCache, MemCacheStrategy
from githubkit.utils import UNSET

from bot.domain.errors import SettingsError
from bot.github.app import AppClient, NewApp, VisitorClient, convert_manifest
from bot.github.calls import Api, SwitchedOff
from bot.github.etag_cache import ConditionalTransport, ETagCache
from bot.github.limits import RateLimiter
from bot.github.repository import RepoClient
from bot.github.transport import RateLimitedTransport, ServerClock, open_connections
from bot.platform.addresses import is_server
from bot.platform.call_tracker import ToolCallTracker
from bot.platform.settings.loading import read_key

if TYPE_CHECKING:
    from githubkit import GitHubCore


# Seconds. The App's token (a JWT) starts `_JWT_EARLIER` before now, in case clocks differ, and ends `_JWT_LATER`
# after now, within GitHub's limit of ten minutes. The client uses a token for `_JWT_KEPT`.
_JWT_EARLIER, _JWT_LATER, _JWT_KEPT = 60, 540, 480


class Tokens(MemCache):
    """Keeps tokens until shortly before they expire. `server_clock` corrects githubkit, which uses the host's clock."""

    def __init__(self, monotonic: Callable[[], float], server_clock: ServerClock) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._monotonic = monotonic
        self._server_clock = server_clock
        # Each token with the monotonic time until which `get` returns it.
        self._tokens: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        with self._lock:
            token, expires = self._tokens.get(key, ("", 0.0))
        return token if self._monotonic() < expires else None

    def set(self, key: str, value: str, ex: timedelta) -> None:
        """Keep an installation token until a minute before it expires.

        githubkit computes `ex`: GitHub's `expires_at`, minus the host's time, minus a minute.
        Subtract the skew, because the host's time may be wrong.
        """
        self.keep(key, value, ex.total_seconds() - (self._server_clock.skew or 0.0))

    def keep(self, key: str, value: str, seconds: float) -> None:
        with self._lock:
            self._tokens[key] = (value, self._monotonic() + seconds)

    def forget(self) -> None:
        """Drop all tokens, because GitHub refuses them or because new tokens would grant more permissions."""
        with self._lock:
            self._tokens.clear()


class TokenStore(MemCacheStrategy):
    """Gives githubkit a separate token cache for each client, instead of a cache that the whole process shares."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__()
        self._tokens = tokens

    def get_cache_storage(self) -> Tokens:
        return self._tokens


@dataclass(frozen=True, slots=True)
class AppCredentials(BaseAuthStrategy):
    """The credentials of the App, or of an installation if `installation_id` is set.

    `repository_ids` limit an installation's token, in case somebody smuggles another private repository into a query.
    """

    app_id: int
    private_key: str = field(repr=False)
    server_clock: ServerClock
    tokens: Tokens
    installation_id: int | None = None
    repository_ids: Sequence[int] = ()

    def get_auth_flow(self, github: GitHubCore[Any]) -> AppAuth:
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
    """githubkit's flow, but it uses GitHub's clock, signs as one identity only, and keeps the key out of its `repr`."""

    server_clock: ServerClock = field(kw_only=True)
    tokens: Tokens = field(kw_only=True)

    def get_jwt(self) -> str:
        """The App's token. Signs a new token every eight minutes."""
        key = f"doppel:jwt:{self.issuer}"
        if not (token := self.tokens.get(key)):
            now = int(self.server_clock.now())
            claims = {"iss": self.issuer, "iat": now - _JWT_EARLIER, "exp": now + _JWT_LATER}
            private = read_key(self.private_key)
            assert isinstance(private, RSAPrivateKey), "the settings accept only RSA keys"
            token = jwt.encode(claims, private, algorithm="RS256")
            self.tokens.keep(key, token, _JWT_KEPT)
        return token

    def _get_api_route(self, url: httpx.URL) -> httpx.URL:
        """A fixed route in place of the real one: githubkit signs `/app` as the App, and `/` as the installation.

        By the real route, githubkit would sign each `/repos/…/installation` as the App. The route of
        a label called `installation` has that form, but needs the installation's token.
        """
        return httpx.URL("/app" if self.installation_id is UNSET else "/")


API_VERSION = "2026-03-10"
"""The version of the REST API to ask for (https://docs.github.com/rest/about-the-rest-api/api-versions)."""

SERVER_API_VERSION = "2022-11-28"
"""The version that every Enterprise Server knows; servers before 3.21 refuse later versions
(https://github.com/github/rest-api-description)."""


class GitHub:
    """Makes clients that share connections, GitHub's clock and, per account, a rate limiter.

    Thread safe. `api_url` is `https://api.github.com`, `https://HOST/api/v3` for an Enterprise server (with GraphQL at
    `/api/graphql`), or any other base. `api_version` defaults to a version that the server certainly knows.
    `RepoClient.thread` caches answers in `tracker`. A call that would wait and retry for more than `patience` seconds
    raises RateLimited or Unavailable. Each answer may take `timeout` seconds. Tests replace clocks, sleep and jitter.
    """

    def __init__(
        self,
        *,
        app_id: int | None = None,
        private_key: str = "",
        api_url: str = "https://api.github.com",
        api_version: str = "",
        tracker: ToolCallTracker | None = None,
        patience: float = 20.0,
        timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._app_id = app_id
        self._private_key = private_key
        self._api_url = httpx.URL(api_url.rstrip("/") + "/")
        self.api_version = api_version or (SERVER_API_VERSION if is_server(api_url) else API_VERSION)
        self._tracker = tracker or ToolCallTracker(clock=clock)
        self._patience = patience
        self._timeout = timeout
        self._etag_cache = ETagCache()
        self._switched_off = SwitchedOff(monotonic)
        self._server_clock = ServerClock(clock)
        self._monotonic = monotonic
        self._sleep = sleep
        self._jitter = jitter
        self._connections: httpx.BaseTransport = open_connections(self._api_url)
        self._transports: dict[str, httpx.BaseTransport] = {}
        # `_app_api` explains the keys. No entry is ever removed: an Api with its tokens takes only a few kB.
        self._apis: dict[tuple[int, ...], Api] = {}
        self._lock = threading.Lock()

    def app(self) -> AppClient:
        return AppClient(self._app_api(()), lambda id_: self._app_api((id_,)), lambda: self._server_clock.skew)

    def login(self) -> str:
        """The login under which the bot writes comments and issues."""
        return self.app().get_app().bot_login

    def installation(self, installation_id: int, *, repository_ids: Sequence[int] = ()) -> RepoClient:
        """The client of an installation. `repository_ids` limit its token to these repositories and all public ones."""
        return RepoClient(self._app_api((installation_id, *sorted(repository_ids))), self._tracker)

    def in_repository(self, installation_id: int, repo_id: int) -> RepoClient:
        """The client of an installation whose token reaches only one private repository, and all public ones."""
        return self.installation(installation_id, repository_ids=(repo_id,))

    def now(self) -> float:
        """Seconds since 1970 by GitHub's clock; before GitHub's first answer, by the host's clock."""
        return self._server_clock.now()

    def forget_tokens(self, installation_id: int) -> None:
        """Drop an installation's tokens: they lack permissions that the account has granted since."""
        with self._lock:
            apis = [api for key, api in self._apis.items() if key[:1] == (installation_id,)]
        for api in apis:
            api.forget_tokens()

    def user(self, token: str) -> RepoClient:
        """The client of the person or workflow whose token this is."""
        return RepoClient(self._token_api(token.strip()), self._tracker)

    def _token_api(self, token: str) -> Api:
        account = f"user {hashlib.sha256(token.encode()).hexdigest()[:16]}"
        with self._lock:
            return Api(self._client(TokenAuthStrategy(token), account, None), self._switched_off)

    def visitor(self, token: str) -> VisitorClient:
        """The client of a person who signs in. All visitors share a rate limiter, because each needs few requests."""
        with self._lock:
            return VisitorClient(Api(self._client(TokenAuthStrategy(token), "visitors", None), self._switched_off))

    def convert_manifest(self, code: str) -> NewApp:
        with self._lock:
            api = Api(self._client(UnauthAuthStrategy(), "nobody", None), self._switched_off)
        return convert_manifest(api, code)

    def close(self) -> None:
        self._connections.close()

    def _app_api(self, key: tuple[int, ...]) -> Api:
        """The Api of the App (empty key), or of an installation (`key[0]`) limited to repositories (`key[1:]`)."""
        if self._app_id is None or not self._private_key:
            raise SettingsError("APP_ID and PRIVATE_KEY or PRIVATE_KEY_PATH: needed to speak to GitHub as the App.")
        with self._lock:
            if key not in self._apis:
                account = f"installation {key[0]}" if key else "app"
                tokens = Tokens(self._monotonic, self._server_clock)
                credentials = AppCredentials(
                    self._app_id,
                    self._private_key,
                    self._server_clock,
                    tokens,
                    installation_id=key[0] if key else None,
                    repository_ids=key[1:],
                )
                client = self._client(credentials, account, tokens)
                self._apis[key] = Api(client, self._switched_off, tokens.forget, installed=bool(key))
            return self._apis[key]

    def _client(self, auth: BaseAuthStrategy, account: str, tokens: Tokens | None) -> githubkit.GitHub[Any]:
        """githubkit's client, without githubkit's own limits, retries and caching. The caller must hold the lock."""
        path = self._api_url.path.rstrip("/")
        if account not in self._transports:
            # GitHub counts limits by account, so all tokens of one account share a rate limiter.
            rate_limited = RateLimitedTransport(
                connections=self._connections,
                limiter=RateLimiter(self._monotonic),
                server_clock=self._server_clock,
                base_path=path,
                api_version=self.api_version,
                patience=self._patience,
                monotonic=self._monotonic,
                sleep=self._sleep,
                jitter=self._jitter,
            )
            self._transports[account] = ConditionalTransport(
                rate_limited, self._etag_cache, account=account, base_path=path
            )
        return githubkit.GitHub(
            auth,
            base_url=self._api_url,
            user_agent="doppel",
            timeout=self._timeout,
            transport=self._transports[account],
            cache_strategy=TokenStore(tokens) if tokens else None,
            http_cache=False,
            auto_retry=False,
        )
