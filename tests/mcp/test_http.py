"""Streamable HTTP: who gets in, and that sessions are told apart. A real server, real connections."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from bot.interfaces.mcp.server import PATH, BearerToken, application
from tests.mcp.conftest import answer, session
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow

TOKEN = "a-long-random-token"
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTED = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def url(server: Any) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(application(server, TOKEN, "127.0.0.1"), log_config=None))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    wait_until(lambda: running.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
    running.should_exit = True
    thread.join()


@contextlib.asynccontextmanager
async def connect(url: str, **options: Any) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=LONGEST) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_sessions_are_told_apart_and_repeated_calls_marked(url: str, mode: str) -> None:
    with session(connect(url, mode=mode)) as one, session(connect(url, mode=mode)) as other:
        for client, cached in ((one, False), (other, False), (one, True)):
            assert answer(client.call_tool("find_duplicates", {"number": 3}))["cached"] is cached


def test_requests_of_no_session_share_nothing(url: str) -> None:
    """The latest protocol has no sessions; a client that insists on it is served, and nothing is remembered for it."""
    with session(connect(url, mode="2026-07-28")) as client:
        for _ in range(2):
            assert answer(client.call_tool("find_duplicates", {"number": 3}))["cached"] is False


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN],
)
def test_401_without_the_token(url: str, authorization: str | None) -> None:
    headers = ACCEPTED | ({} if authorization is None else {"Authorization": authorization})
    for method in ("GET", "POST", "DELETE"):
        response = httpx2.request(method, url, headers=headers, json=ASKED if method == "POST" else None)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert "Bearer" in response.json()["error"]
        assert TOKEN not in response.text


def test_401_also_for_two_tokens_and_for_other_paths(url: str) -> None:
    twice = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer wrong")]
    assert httpx2.post(url, headers=twice, json=ASKED).status_code == 401
    assert httpx2.get(url.removesuffix(PATH) + "/anything").status_code == 401


def test_an_empty_token_is_none(server: Any) -> None:
    with pytest.raises(ValueError, match="empty token"):
        BearerToken(server.streamable_http_app(), "")


def test_names_that_lead_here_by_a_trick_are_refused(url: str) -> None:
    """DNS rebinding: a page in the user's browser speaks to 127.0.0.1 under its own name."""
    headers = ACCEPTED | {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
    assert httpx2.post(url, headers=headers, json=ASKED).status_code == 421
