"""Clients that others wrote work with the simulator: githubkit and PyGithub, each its own way."""

from __future__ import annotations

from typing import Any

import githubkit
import pytest
from github import Auth, Github, GithubException, GithubIntegration
from githubkit.exception import RequestFailed

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
    """Both clients sign their tokens by the machine's clock."""
    running = Clock()
    server.sim.clock = server.sim.limits._clock = running
    return server


def test_githubkit(server: Server, sim: Simulator) -> None:
    sim.open_issue("acme/app", "ada", "It crashes", "Text")
    app = githubkit.GitHub(
        githubkit.AppAuthStrategy(str(server.app_id), server.private_key_pem), base_url=server.url + "/"
    )
    found = app.rest("2026-03-10").apps.get_repo_installation("acme", "app").parsed_data
    client: Any = app.with_auth(app.auth.as_installation(found.id))
    rest = client.rest("2026-03-10")
    assert rest.issues.get("acme", "app", 1).parsed_data.title == "It crashes"
    comment = rest.issues.create_comment("acme", "app", 1, body="Hello").parsed_data
    assert rest.issues.list_comments("acme", "app", 1).parsed_data[0].id == comment.id
    assert rest.reactions.create_for_issue_comment("acme", "app", comment.id, content="eyes").status_code == 201
    assert rest.issues.add_labels("acme", "app", 1, labels=["duplicate"]).parsed_data[0].name == "duplicate"
    assert rest.search.issues_and_pull_requests(q="repo:acme/app is:issue crashes").parsed_data.total_count == 1
    assert [entry.event for entry in rest.issues.list_events_for_timeline("acme", "app", 1).parsed_data][
        -1
    ] == "labeled"
    assert len(list(client.rest.paginate(rest.issues.list_labels_for_repo, owner="acme", repo="app", per_page=2))) > 2
    assert client.graphql("{ rateLimit { remaining } }")["rateLimit"]["remaining"] > 0
    with pytest.raises(RequestFailed) as refused:
        rest.issues.get("acme", "app", 99)
    assert refused.value.response.status_code == 404


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


def test_pygithub_as_a_person(server: Server, sim: Simulator) -> None:
    sim.set_permission("acme/app", "mae", "maintain")
    person = Github(auth=Auth.Token(sim.user_token("mae", "github_pat_")), base_url=server.url, retry=None)
    assert person.get_user().login == "mae"
    repo = person.get_repo("acme/app")
    assert (repo.permissions.maintain, repo.permissions.admin) == (True, False)
    repo.create_label("area/ui", "ff0000").edit("area/ux", "00ff00")
    assert repo.get_label("area/ux").color == "00ff00"
