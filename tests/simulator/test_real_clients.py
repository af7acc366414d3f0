"""A client that others wrote works with the simulator: PyGithub, in its own way."""

from __future__ import annotations

from typing import Any

import pytest
from github import Auth, Github, GithubException, GithubIntegration

from bot.simulator import Clock, Server, Simulator
from bot.simulator.state.accounts import Installation

pytestmark = pytest.mark.slow


@pytest.fixture
def pygithub(server: Server, installation: Installation) -> Github:
    auth = Auth.AppAuth(server.app_id, server.private_key_pem)
    # PyGithub would pause a second between writes.
    pace: Any = {"seconds_between_requests": 0, "seconds_between_writes": 0}
    integration = GithubIntegration(auth=auth, base_url=server.url, retry=None, **pace)
    return integration.get_github_for_installation(installation.id)


@pytest.fixture
def server(server: Server) -> Server:
    """PyGithub signs its tokens by the machine's clock."""
    running = Clock()
    server.sim.clock = server.sim.limits._clock = running
    return server


def test_pygithub(sim: Simulator, pygithub: Github) -> None:
    sim.write_file("acme/app", "README.md", "# App\n")
    sim.set_permission("acme/app", "tri", "triage")
    repo = pygithub.get_repo("acme/app")
    issue = repo.create_issue("It crashes", "At start", labels=["bug"])
    other = repo.create_issue("It crashes again")
    assert [entry.number for entry in repo.get_issues(state="all", sort="created", direction="asc")] == [1, 2]
    comment = issue.create_comment("Hello")
    comment.edit("Hello again")
    comment.create_reaction("eyes")
    assert [entry.content for entry in comment.get_reactions()] == ["eyes"]
    issue.add_to_labels("documentation")
    issue.remove_from_labels("bug")
    assert [label.name for label in issue.get_labels()] == ["documentation"]
    issue.edit(state="closed", state_reason="not_planned")
    assert repo.get_issue(1).state_reason == "not_planned"
    issue.lock("resolved")
    assert repo.get_issue(1).active_lock_reason == "resolved"
    assert [event.event for event in issue.get_events()][-1] == "locked"
    assert next(event.event for event in issue.get_timeline()) == "labeled"
    assert repo.get_contents("README.md").decoded_content == b"# App\n"  # type: ignore[union-attr]
    assert repo.get_collaborator_permission("tri") == "read"
    found = pygithub.search_issues("crashes again in:title", repo="acme/app", **{"is": "issue"})
    assert [entry.id for entry in found] == [other.id]
    assert pygithub.get_rate_limit().resources.core.limit == 5000
    with pytest.raises(GithubException) as refused:
        repo.get_issue(99)
    assert refused.value.status == 404
    assert sim.unknown_requests == []
