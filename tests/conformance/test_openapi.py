"""What our client asks and what the simulator answers fits GitHub's published description, over the wire."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import DoppelError, NotFound
from bot.github.client import GitHub
from bot.simulator import Server, start_simulator
from tests.conformance.openapi import Description, Exchange
from tests.conformance.recorder import recording

# GitHub's description takes seconds to read.
pytestmark = pytest.mark.slow

REPO = RepoRef("acme", "app")


@pytest.fixture
def server() -> Iterator[Server]:
    with start_simulator() as running:
        sim = running.sim
        sim.add_repository("acme/app")
        sim.install("acme/app")
        sim.set_permission("acme/app", "tess", "triage")
        sim.write_file("acme/app", ".github/doppel.yml", "mode: comment\n")
        sim.write_file("acme/app", ".github/ISSUE_TEMPLATE/bug.md", "## What happened\n")
        sim.open_issue("acme/app", "ann", "Import stops at the first empty row", "It stops. No error is shown.")
        sim.open_issue("acme/app", "bob", "Empty rows end the import", None)
        yield running


def exercise(github: GitHub) -> None:
    """Every operation that the bot has, each at least once."""
    app = github.app()
    info = app.get_app()
    installation = app.installation_of(REPO)
    assert [i.id for i in app.installations()] == [installation]
    assert [r.ref for r in app.repositories(installation)] == [REPO]
    app.hook_url()
    app.set_hook_url("http://127.0.0.1:9/webhook")
    list(app.deliveries(most=5))
    client = github.installation(installation)
    first, second = client.issue(REPO, 1), client.issue(REPO, 2)
    assert len(client.recent_issues(REPO, 10)) == 2
    client.search("repo:acme/app is:issue import")
    client.search("repo:acme/app is:issue rows end the import", hybrid=True)
    client.workflow_states(REPO, [1, 2])
    client.closers(REPO, [1, 2])
    comment = client.create_comment(REPO, 2, "hello")
    assert comment.author.login == info.bot_login
    client.update_comment(REPO, comment.id, "hello again")
    client.comment(REPO, comment.id)
    client.comments(REPO, 2)
    client.react(REPO, comment.id, "eyes")
    client.permission(REPO, "tess")
    client.labels(REPO)
    client.repository(REPO)
    client.file(REPO, ".github/doppel.yml")
    client.directory(REPO, ".github/ISSUE_TEMPLATE")
    client.add_labels(REPO, second.number, ["duplicate"])
    client.close_as_duplicate(REPO, second.number, first.id)
    client.reopen(REPO, second.number)
    client.close(REPO, second.number, "not_planned")
    client.remove_label(REPO, second.number, "duplicate")
    client.delete_comment(REPO, comment.id)
    for refused in (
        lambda: client.issue(REPO, 99),
        lambda: client.search("repo:acme/other is:issue x"),
        lambda: client.create_comment(REPO, 1, ""),
    ):
        with pytest.raises(DoppelError):
            refused()
    with pytest.raises(NotFound):
        app.installation_of(RepoRef("acme", "other"))


def test_every_operation_is_asked_and_answered_as_github_publishes_it(published: Description, server: Server) -> None:
    with recording(server.url) as (url, exchanges):
        github = GitHub(app_id=server.app_id, private_key=server.private_key_pem, api_url=url)
        exercise(github)
        github.close()
    judged = [exchange for exchange in exchanges if exchange.target != "/graphql"]
    assert len(judged) > 30
    assert [problem for exchange in judged for problem in published.problems(exchange)] == []


@pytest.mark.parametrize(
    ("exchange", "problem"),
    [
        (Exchange("GET", "/nowhere", b"", 200, b"{}"), "is not published"),
        (Exchange("GET", "/search/issues", b"", 200, b"{}"), "query parameter q is missing"),
        (Exchange("GET", "/search/issues?q=a&per_page=x", b"", 422, b"{}"), "query parameter per_page"),
        (Exchange("GET", "/repos/a/b", b"", 200, b'{"id": "7"}'), "answer at /"),
        (Exchange("POST", "/repos/a/b/issues/1/comments", b'{"body": 7}', 500, b"{}"), "request at /body"),
    ],
)
def test_the_judge_can_say_no(published: Description, exchange: Exchange, problem: str) -> None:
    assert any(problem in found for found in published.problems(exchange))
