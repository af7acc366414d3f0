"""The list of changed issues, and what GraphQL tells beside it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from githubkit.graphql import GraphQLError

from bot.domain.entities import RepoRef
from bot.domain.errors import GitHubError, NotFound, Retryable, Unavailable
from bot.github.repository import RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO


def test_pages_come_in_the_order_of_change_without_pull_requests(client: RepoClient, sim: Simulator) -> None:
    for number in range(1, 151):
        sim.open_issue("acme/app", "ann", f"Number {number}", is_pull_request=number % 10 == 0)
        sim.clock.advance(1)
    sim.close_issue("acme/app", 3)
    first = client.changed_issues(REPO)
    assert [issue.number for issue in first.issues[:4]] == [1, 2, 4, 5]
    assert (len(first.issues), first.more, bool(first.after)) == (90, True, True)
    rest = client.changed_issues(REPO, after=first.after, page=2)
    assert (rest.issues[-1].number, rest.issues[-1].state, rest.more) == (3, "closed", False)
    assert len(first.issues) + len(rest.issues) == 135
    assert first.budget is not None and first.budget.limit >= 5_000 and 3_000 < first.budget.seconds <= 3_601
    since = sim.issue("acme/app", 3).updated_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    recent = client.changed_issues(REPO, since=since)
    assert recent.issues[-1].number == 3
    assert recent.last == datetime.fromisoformat(since)


def test_t6_what_has_not_changed_is_not_sent_again(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "ann", "One")
    first = client.changed_issues(REPO)
    again = client.changed_issues(REPO, etag=first.etag)
    assert (again.unchanged, again.issues, again.etag) == (True, (), first.etag)


def test_t6_that_nothing_has_changed_is_no_answer_to_who_knows_nothing(client: RepoClient, sim: Simulator) -> None:
    """Read as one, it would end the first reading of a repository before it has begun."""
    sim.open_issue("acme/app", "ann", "One")
    sim.faults.add("GET /repos/acme/app/issues", 304)
    with pytest.raises(Unavailable, match="304"):
        client.changed_issues(REPO)
    assert [issue.number for issue in client.changed_issues(REPO).issues] == [1]


def test_a_former_name_is_refused_since_a_redirect_may_lose_the_question(client: RepoClient, sim: Simulator) -> None:
    sim.rename_repository("acme/app", "new")
    with pytest.raises(NotFound):
        client.changed_issues(REPO)
    assert client.changed_issues(RepoRef("acme", "new")).issues == ()


def test_issues_are_counted_without_pull_requests(client: RepoClient, sim: Simulator, repo_id: int) -> None:
    assert client.count_issues(REPO, repo_id) == 0
    sim.open_issue("acme/app", "ann", "One")
    sim.open_issue("acme/app", "ann", "Two", is_pull_request=True)
    assert client.count_issues(REPO, repo_id) == 1
    assert client.count_issues(RepoRef("acme", "unknown"), repo_id) is None


def test_a_name_that_another_repository_has_by_now_is_not_found(
    client: RepoClient, sim: Simulator, repo_id: int
) -> None:
    sim.open_issue("acme/app", "ann", "One")
    for ask in (lambda one: client.count_issues(REPO, one), lambda one: client.missing_issues(REPO, [1], one)):
        assert ask(repo_id) in (1, set())
        with pytest.raises(NotFound):
            ask(repo_id + 1)


def test_originals_are_those_in_the_same_repository(client: RepoClient, sim: Simulator) -> None:
    sim.add_repository("acme/other")
    elsewhere = sim.open_issue("acme/other", "ann", "Elsewhere")
    for title in ("One", "Two", "Three", "Four"):
        sim.open_issue("acme/app", "ann", title)
    sim.close_issue("acme/app", 2, reason="duplicate", duplicate_of=sim.issue("acme/app", 1))
    sim.close_issue("acme/app", 3, reason="duplicate", duplicate_of=elsewhere)
    assert client.originals(REPO, [2, 3, 4, 99]) == {2: 1, 3: None, 4: None}
    assert client.originals(REPO, []) == {}


def test_only_what_github_says_is_gone_is_missing(
    client: RepoClient, sim: Simulator, repo_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for title in ("One", "Two", "Three"):
        sim.open_issue("acme/app", "ann", title)
    sim.delete_issue("acme/app", 2)
    assert client.missing_issues(REPO, [1, 2, 3, 99], repo_id) == {2, 99}

    def answer_in_part(*_: Any) -> tuple[dict[str, Any], list[GraphQLError]]:
        return {}, [
            GraphQLError(type="NOT_FOUND", message="no such repository", path=["repository"]),
            GraphQLError(type=None, message="Something went wrong", path=["repository", "i1"]),
        ]

    monkeypatch.setattr(client._api, "graphql", answer_in_part)
    assert client.missing_issues(REPO, [1, 2, 3], repo_id) == set()


def test_d8_reactions_are_counted_for_many_issues_at_once(client: RepoClient, sim: Simulator) -> None:
    for title in ("One", "Two", "Three"):
        sim.open_issue("acme/app", "ann", title)
    for person, reaction in (("ann", "+1"), ("bob", "+1"), ("bob", "heart"), ("cem", "-1")):
        sim.react(sim.issue("acme/app", 1), person, reaction)
    sim.delete_issue("acme/app", 2)
    before = sim.faults.requests
    assert client.reactions(REPO, [1, 2, 3]) == {1: (2, 1), 3: (0, 0)}
    assert sim.faults.requests - before <= 2, "one, and perhaps a token"
    sim.rename_repository("acme/app", "gone")
    sim.delete_repository("acme/gone")
    with pytest.raises((GitHubError, Retryable)):
        client.reactions(REPO, [1])
