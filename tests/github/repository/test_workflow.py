"""F7: the workflow state of issues, from their project items, in one request."""

from __future__ import annotations

import pytest

from bot.github.repository import RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.set_permissions("acme", {"issues": "write", "metadata": "read", "organization_projects": "read"})
    for number in range(1, 5):
        sim.open_issue("acme/app", "alice", f"Issue {number}", "")


def graphql_requests(sim: Simulator) -> int:
    return sum(
        sim.limits.state(f"installation:{installation}", "graphql")["used"] for installation in sim.installations
    )


def test_f7_workflow_state_if_there_is_one_else_status(client: RepoClient, sim: Simulator) -> None:
    plan = sim.add_project("acme", "Plan", {"Status": ["Todo", "Done"], "Workflow State": ["Triage", "Ready"]})
    board = sim.add_project("acme", "Board", {"Status": ["Open"], "Phase": ["Alpha"]})
    sim.set_status(plan, "acme/app", 1, "Done")
    sim.set_status(plan, "acme/app", 1, "Ready", field="Workflow State")
    sim.set_status(board, "acme/app", 2, "Open")
    sim.set_status(board, "acme/app", 3, "Alpha", field="Phase")
    client.issue(REPO, 1)
    answer = client.workflow_states(REPO, [1, 2, 3, 4])
    assert answer.states == {1: "Ready", 2: "Open", 3: None, 4: None}
    assert answer.reason == ""
    assert graphql_requests(sim) == 1
    assert client.workflow_states(REPO, [1, 2, 3], "Phase").states == {1: None, 2: None, 3: "Alpha"}


def test_f7_null_with_a_reason_where_projects_are_not_accessible(client: RepoClient, sim: Simulator) -> None:
    project = sim.add_project("acme", "Plan", {"Status": ["Todo"]})
    sim.set_status(project, "acme/app", 1, "Todo")
    sim.set_permissions("acme", {"issues": "write", "metadata": "read"})
    answer = client.workflow_states(REPO, [1, 2])
    assert answer.states == {1: None, 2: None}
    assert answer.reason == "projects cannot be read: Resource not accessible by integration"


def test_a_deleted_issue_among_many_spoils_nothing(client: RepoClient, sim: Simulator) -> None:
    project = sim.add_project("acme", "Plan", {"Status": ["Todo"]})
    sim.set_status(project, "acme/app", 2, "Todo")
    sim.delete_issue("acme/app", 1)
    answer = client.workflow_states(REPO, [1, 2, 2, 99])
    assert (answer.states, answer.reason) == ({1: None, 2: "Todo", 99: None}, "")
    assert client.workflow_states(REPO, [1]).reason == ""


@pytest.mark.parametrize("failure", [502, 404, 400, "malformed", "secondary_limit"])
def test_f7_the_finding_never_fails_for_it(client: RepoClient, sim: Simulator, failure: int) -> None:
    sim.faults.add("POST /graphql", failure, times=None)
    answer = client.workflow_states(REPO, [1])
    assert answer.states == {1: None}
    assert answer.reason.startswith("projects cannot be read: ")


@pytest.mark.parametrize("field", ['St"atus', "é\n}{", "x" * 500, "$f0"])
def test_a_fields_name_cannot_change_the_query(client: RepoClient, field: str) -> None:
    assert client.workflow_states(REPO, [1], field).states == {1: None}
