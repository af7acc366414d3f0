"""Where the bot sends anything is decided by the host's settings alone, and no answer leads it elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import DoppelError, SettingsError
from bot.github.client import GitHub
from bot.platform.settings import load
from bot.search.embedding import EmbeddingError
from bot.search.embedding.remote import RemoteModel

REPO = RepoRef("acme", "app")


class Place:
    """A server that answers every request alike and remembers them: what was asked, and with which credentials."""

    def __init__(self, status: int, location: str = "") -> None:
        self.asked: list[tuple[str, str]] = []
        place = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                place.asked.append((self.path, self.headers.get("Authorization", "")))
                self.send_response(status)
                if location:
                    self.send_header("Location", f"{location}{self.path}")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Silence."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def place() -> Iterator[Callable[..., Place]]:
    made: list[Place] = []

    def make(*arguments: Any) -> Place:
        made.append(Place(*arguments))
        return made[-1]

    yield make
    for one in made:
        one.server.shutdown()
        one.server.server_close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_github_cannot_send_the_bot_to_another_server(place: Callable[..., Place], status: int) -> None:
    """A redirect to another address, perhaps one that only this machine can reach, is not followed, token or none."""
    inside = place(200)
    github = GitHub(api_url=place(status, inside.url).url, sleep=lambda _: None)
    try:
        with pytest.raises(DoppelError):
            github.user("ghp_token").issue(REPO, 1)
        with pytest.raises(DoppelError):
            github.user("ghp_token").create_comment(REPO, 1, "private text")
    finally:
        github.close()
    assert inside.asked == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_an_embedding_endpoint_cannot_send_private_texts_elsewhere(place: Callable[..., Place], status: int) -> None:
    elsewhere = place(200)
    model = RemoteModel(place(status, elsewhere.url).url, "m", "sesame")
    with pytest.raises(EmbeddingError, match=f"HTTP {status}"):
        model.embed(["private text"])
    assert elsewhere.asked == []


URLS = ("GITHUB_API_URL", "WEBHOOK_PROXY_URL", "DOPPEL_EMBEDDING_URL")


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize(
    "value", ["file:///etc/passwd", "gopher://x/_y", "ftp://x", "//x", "https://", "javascript:x", "x"]
)
def test_only_http_addresses_are_settings(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=name):
        load({name: value}, tmp_path / "none")
