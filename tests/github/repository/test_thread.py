"""T5: the work on one issue remembers what it read; what it acts upon it reads anew."""

from __future__ import annotations

import pytest

from bot.domain.errors import Unavailable
from bot.github.repository import RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO

QUERY = "repo:acme/app is:issue crash"


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "Crash at start", "")
    sim.open_issue("acme/app", "bob", "Crash at the end", "")


def test_t5_two_issues_or_files_are_never_mixed_up(client: RepoClient, sim: Simulator) -> None:
    """The rule for tools that nobody described would find two of three arguments the same."""
    thread = client.thread("acme/app#2")
    sim.write_file("acme/app", "one.md", "one")
    sim.write_file("acme/app", "two.md", "two")
    assert [thread.file(REPO, f"{name}.md") for name in ("one", "two", "one")] == ["one", "two", "one"]
    assert thread.workflow_states(REPO, [1]).states != thread.workflow_states(REPO, [2]).states


def test_t5_files_folders_labels_and_lists_are_remembered(client: RepoClient, sim: Simulator) -> None:
    thread = client.thread("acme/app#2")
    sim.write_file("acme/app", "docs/one.md", "one")
    before = (
        thread.file(REPO, "docs/one.md"),
        thread.directory(REPO, "docs"),
        thread.labels(REPO),
        thread.recent_issues(REPO, 10),
    )
    thread.directory(REPO, "docs").clear()
    sim.write_file("acme/app", "docs/one.md", "two")
    sim.write_file("acme/app", "docs/two.md", "")
    sim.create_label("acme/app", "new")
    sim.open_issue("acme/app", "carol", "Third", "")
    assert before == (
        thread.file(REPO, "docs/one.md"),
        thread.directory(REPO, "docs"),
        thread.labels(REPO),
        thread.recent_issues(REPO, 10),
    )
    fresh = client.thread("acme/app#2", fresh=True)
    assert fresh.file(REPO, "docs/one.md") == "two"
    assert fresh.directory(REPO, "docs") == ["one.md", "two.md"]


def test_t3_what_failed_or_came_incomplete_is_asked_again(client: RepoClient, sim: Simulator) -> None:
    thread = client.thread("acme/app#2")
    sim.faults.add("GET /search/issues", 502, times=4)
    with pytest.raises(Unavailable):
        thread.search(QUERY)
    sim.faults.clear()
    sim.faults.add("GET /search/issues", "incomplete_results")
    assert thread.search(QUERY).incomplete
    assert not thread.search(QUERY).cached_at
    assert thread.search(QUERY).cached_at
    sim.faults.add("POST /graphql", 404)
    assert thread.workflow_states(REPO, [1]).reason
    assert not thread.workflow_states(REPO, [1]).reason
