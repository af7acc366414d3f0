"""What GitHub knows of an issue's original."""

from __future__ import annotations

import pytest
from githubkit.graphql import GraphQLError

from bot.domain.entities import IssueRef, RepoRef
from bot.domain.errors import Unavailable
from bot.github.repository import RepoClient
from bot.simulator import Simulator

REPO = RepoRef("acme", "app")


@pytest.fixture(autouse=True)
def three_issues(sim: Simulator) -> None:
    for title in ("Login fails", "Cannot log in", "Log in is broken"):
        sim.open_issue(REPO.owner + "/" + REPO.name, "ann", title)


def test_c4_the_original_of_a_duplicate(sim: Simulator, client: RepoClient) -> None:
    assert client.duplicate_of(REPO, 2) is None
    client.close_as_duplicate(REPO, 2, client.issue(REPO, 1).id)
    assert client.duplicate_of(REPO, 2) == IssueRef(REPO, 1)
    assert client.reopen(REPO, 2).state == "open"
    assert client.duplicate_of(REPO, 2) is None


def test_a_failure_of_githubs_is_no_answer(sim: Simulator, client: RepoClient, repo_id: int) -> None:
    """It comes with status 200, and read as if the issue was no duplicate."""
    client.close_as_duplicate(REPO, 2, client.issue(REPO, 1).id)
    for ask in (
        lambda: client.duplicate_of(REPO, 2),
        lambda: client.originals(REPO, [2]),
        lambda: client.count_issues(REPO, repo_id),
        lambda: client.missing_issues(REPO, [2], repo_id),
    ):
        sim.faults.add("POST /graphql", "graphql_error", code=200)
        with pytest.raises(Unavailable, match="GitHub failed"):
            ask()
    sim.faults.add("POST /graphql", "graphql_error")
    assert client.duplicate_of(REPO, 2) == IssueRef(REPO, 1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (None, "Something went wrong while executing your query."),
        ("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded."),
    ],
)
def test_a_failure_over_one_issue_is_no_answer_about_it(
    client: RepoClient, monkeypatch: pytest.MonkeyPatch, kind: str | None, message: str
) -> None:
    """What GitHub fails over is null in an answer that has the rest, as it is for an issue that is no duplicate."""
    failure = GraphQLError(type=kind, message=message, path=["repository", "i2", "duplicateOf"])
    answer = {"i1": {"duplicateOf": None}, "i2": {"duplicateOf": None}}
    monkeypatch.setattr(client._api, "graphql", lambda *_: ({"repository": answer}, [failure]))
    assert client.originals(REPO, [1, 2]) == {1: None}
    assert client.duplicate_of(REPO, 1) is None
    with pytest.raises(Unavailable, match="GitHub failed on this issue"):
        client.duplicate_of(REPO, 2)
