"""No token, key or Authorization header in an error, a log line or a repr."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

import pytest

from bot.domain.errors import DoppelError
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.simulator import Server, Simulator
from tests.github.conftest import REPO

pytestmark = pytest.mark.slow


def secrets_of(server: Server) -> list[str]:
    """What must not be seen: the key's lines, every token made, and the start of every JWT."""
    key = [line for line in server.private_key_pem.splitlines() if len(line) > 20]
    return [*key, *server.sim.installation_tokens, "eyJ", "Bearer ", "authorization: ", server.webhook_secret]


def test_nothing_leaks_at_any_log_level_or_in_any_failure(
    connect: Callable[..., GitHub], server: Server, sim: Simulator, caplog: pytest.LogCaptureFixture
) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    with (
        caplog.at_level(logging.DEBUG),
        caplog.at_level(logging.DEBUG, "httpx"),
        caplog.at_level(logging.DEBUG, "httpcore"),
    ):
        github = connect(timeout=0.4, patience=5.0)
        client = github.installation(github.app().installation_of(REPO))
        client.issue(REPO, 1)
        shown = [repr(github), repr(client), repr(client._api), repr(github.app())]
        for failure in (401, 403, 404, 422, 500, "timeout", "reset", "secondary_limit", "malformed"):
            sim.faults.clear()
            sim.faults.add("GET *", failure, times=None)
            for ask in (lambda: client.issue(REPO, 1), github.app().get_app):
                try:
                    ask()
                except DoppelError as problem:
                    shown += [repr(problem), "".join(traceback.format_exception(problem))]
            sim.clock.advance(1000)
        sim.faults.clear()
        sim.faults.add("POST */access_tokens", 404, times=None)
        sim.installation_tokens.clear()
        with pytest.raises(DoppelError) as caught:
            client.issue(REPO, 1)
        shown.append("".join(traceback.format_exception(caught.value)))
    shown += [record.getMessage() for record in caplog.records if not record.name.startswith("bot.simulator")]
    text = "\n".join(shown)
    assert {"bot", "httpx", "httpcore"} <= {record.name.partition(".")[0] for record in caplog.records}
    assert len(shown) > 60
    for secret in secrets_of(server):
        assert secret not in text


def test_a_token_that_makes_no_header_is_not_quoted(github: GitHub, client: RepoClient) -> None:
    """httpx's own message repeats the header that it refuses."""
    token = "ghp_" + "secret\nvalue"
    with pytest.raises(DoppelError) as caught:
        github.user(token).issue(REPO, 1)
    assert token[:10] not in "".join(traceback.format_exception(caught.value))
