"""Where the bot sends anything is decided by the host's settings alone, and no answer leads it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from werkzeug.wrappers import Request, Response

from bot.domain.entities import RepoRef
from bot.domain.errors import DoppelError, SettingsError
from bot.github.client import GitHub
from bot.platform.settings import load
from bot.search.embedding import EmbeddingError
from bot.search.embedding.remote import RemoteModel
from tests.served import listening

REPO = RepoRef("acme", "app")


Place = tuple[str, list[str]]


@pytest.fixture
def place() -> Iterator[Callable[..., Place]]:
    """Makes servers that answer every request alike: the address of one, and what it has been asked."""
    with ExitStack() as servers:

        def make(status: int, location: str = "") -> Place:
            asked: list[str] = []

            @Request.application
            def answer(request: Request) -> Response:
                request.get_data()
                asked.append(request.path)
                return Response("{}", status, {"Location": f"{location}{request.path}"} if location else None)

            return servers.enter_context(listening(answer)), asked

        yield make


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_github_cannot_send_the_bot_to_another_server(place: Callable[..., Place], status: int) -> None:
    """A redirect to another address, perhaps one that only this machine can reach, is not followed, token or none."""
    inside, asked = place(200)
    github = GitHub(api_url=place(status, inside)[0], sleep=lambda _: None)
    try:
        with pytest.raises(DoppelError):
            github.user("ghp_token").issue(REPO, 1)
        with pytest.raises(DoppelError):
            github.user("ghp_token").create_comment(REPO, 1, "private text")
    finally:
        github.close()
    assert asked == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_an_embedding_endpoint_cannot_send_private_texts_elsewhere(place: Callable[..., Place], status: int) -> None:
    elsewhere, asked = place(200)
    model = RemoteModel(place(status, elsewhere)[0], "m", "sesame")
    with pytest.raises(EmbeddingError, match=f"HTTP {status}"):
        model.embed(["private text"])
    assert asked == []


URLS = ("GITHUB_API_URL", "WEBHOOK_PROXY_URL", "DOPPEL_EMBEDDING_URL")


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize(
    "value", ["file:///etc/passwd", "gopher://x/_y", "ftp://x", "//x", "https://", "javascript:x", "x"]
)
def test_only_http_addresses_are_settings(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=name):
        load({name: value}, tmp_path / "none")
