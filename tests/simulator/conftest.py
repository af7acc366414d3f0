"""A simulator over real HTTP, and small clients that speak to it without a library's help."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partialmethod
from typing import Any

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization
from werkzeug.datastructures import Headers
from werkzeug.wrappers import Request, Response

from bot.simulator import Clock, Server, Simulator, start_simulator
from bot.simulator.state.accounts import Installation
from tests.served import listening

START = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATEST = "2026-03-10"


@dataclass
class Api:
    """One caller. Answers are `requests` responses; redirects are not followed."""

    url: str
    token: str | None = None
    version: str | None = LATEST
    session: requests.Session = field(default_factory=requests.Session)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> requests.Response:
        headers = {"User-Agent": "test", **options.pop("headers", {})}
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if self.version:
            headers.setdefault("X-GitHub-Api-Version", self.version)
        options = {"allow_redirects": False, "timeout": 60, **options}
        return self.session.request(method, self.url + path, json=body, headers=headers, **options)

    get = partialmethod(call, "GET")
    post = partialmethod(call, "POST")
    patch = partialmethod(call, "PATCH")
    put = partialmethod(call, "PUT")
    delete = partialmethod(call, "DELETE")

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = self.post("/graphql", {"query": query, "variables": variables})
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture
def server() -> Iterator[Server]:
    """A simulator whose clock stands still, with the public repository `acme/app`, on which the App is installed."""
    with start_simulator(clock=Clock(START)) as running:
        running.sim.add_repository("acme/app")
        running.sim.install("acme/app")
        yield running
        assert running.sim.violations == []


@pytest.fixture
def sim(server: Server) -> Simulator:
    return server.sim


@pytest.fixture
def installation(sim: Simulator) -> Installation:
    return next(iter(sim.installations.values()))


@pytest.fixture
def bot(server: Server, installation: Installation) -> Api:
    """The App with a token of its installation."""
    return Api(server.url, server.sim.make_installation_token(installation).token)


@pytest.fixture
def app(server: Server) -> Api:
    """The App with a JWT."""
    return Api(server.url, sign(server))


@pytest.fixture
def person(server: Server) -> Callable[..., Api]:
    """A person with a token and a role in `acme/app`."""

    def make(login: str, role: Any = "none", prefix: str = "ghp_") -> Api:
        server.sim.set_permission("acme/app", login, role)
        return Api(server.url, server.sim.user_token(login, prefix))

    return make


def sign(server: Server, **changes: Any) -> str:
    """A JWT as GitHub wants it, but for the claims that are named (None leaves one out)."""
    now = int(server.sim.clock.timestamp())
    claims = {"iss": str(server.app_id), "iat": now - 60, "exp": now + 540, **changes}
    key = claims.pop("key", None) or _key(server.private_key_pem)
    algorithm = claims.pop("algorithm", "RS256")
    return jwt.encode({name: value for name, value in claims.items() if value is not None}, key, algorithm)


@cache
def _key(pem: str) -> Any:
    """The key in a PEM. Reading it takes 40 ms of the processor's time, more than most tests that sign with it."""
    return serialization.load_pem_private_key(pem.encode(), password=None)


@dataclass
class Received:
    """One delivery as it came over the wire."""

    headers: Headers
    body: bytes

    @property
    def event(self) -> str:
        return self.headers["X-GitHub-Event"]

    @property
    def payload(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass
class Receiver:
    """An HTTP server that keeps what it is sent and answers with `status`."""

    url: str
    received: list[Received]
    status: int = 202

    def names(self) -> list[str]:
        """Events and actions, in the order of arrival."""
        return [".".join(filter(None, (got.event, got.payload.get("action")))) for got in self.received]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    sink = Receiver("", [])

    @Request.application
    def take(request: Request) -> Response:
        sink.received.append(Received(request.headers, request.get_data()))
        return Response("ok", sink.status)

    with listening(take) as address:
        sink.url = f"{address}/webhook"
        yield sink
