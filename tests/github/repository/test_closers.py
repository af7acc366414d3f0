"""C3: what closed issues, in one request for all of them; a comment goes without it where GitHub does not say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.domain.entities import Closer
from bot.github.repository import RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO
from tests.github.repository.test_workflow import graphql_requests

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def untimed(client: RepoClient, numbers: list[int]) -> dict[int, Closer]:
    return {number: replace(by, at=None) for number, by in client.closers(REPO, numbers).by_issue.items()}


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    for number in range(1, 6):
        sim.open_issue("acme/app", "alice", f"Issue {number}", "")


def test_c3_pull_requests_and_commits_that_closed_issues_are_read_in_one_request(
    client: RepoClient, sim: Simulator
) -> None:
    pull = sim.open_issue("acme/app", "bob", "Mend it", "", is_pull_request=True)
    sim.merge_pull_request("acme/app", pull.number)
    sim.close_issue("acme/app", 1, "bob", closer=pull)
    sim.close_issue("acme/app", 2, "bob", closer=COMMIT)
    sim.close_issue("acme/app", 3, "bob")
    # The last closing counts.
    sim.close_issue("acme/app", 4, "bob", closer=COMMIT)
    sim.reopen_issue("acme/app", 4, "alice")
    sim.close_issue("acme/app", 4, "alice")
    client.issue(REPO, 1)
    before = graphql_requests(sim)
    assert untimed(client, [1, 2, 3, 4, 5, 99]) == {1: Closer(pull=pull.number), 2: Closer(commit=COMMIT)}
    assert graphql_requests(sim) == before + 1
    assert untimed(client, []) == {} and graphql_requests(sim) == before + 1


def test_c3_h6_what_lies_in_another_repository_is_not_told(client: RepoClient, sim: Simulator) -> None:
    sim.add_repository("acme/secret", private=True)
    sim.install("acme/secret")
    pull = sim.open_issue("acme/secret", "bob", "Mend it", "", is_pull_request=True)
    sim.close_issue("acme/app", 1, "bob", closer=pull)
    assert untimed(client, [1]) == {}


@pytest.mark.parametrize("status", [403, 502])
def test_c3_where_github_fails_there_is_none(client: RepoClient, sim: Simulator, status: int) -> None:
    sim.close_issue("acme/app", 1, "bob", closer=COMMIT)
    sim.faults.add("POST /graphql", status, times=None)
    assert untimed(client, [1]) == {}
    sim.faults.clear()
    assert untimed(client, [1]) == {1: Closer(commit=COMMIT)}
