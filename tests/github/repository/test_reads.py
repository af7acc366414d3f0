"""What the bot reads, and what it makes of things that have moved, are gone, or never were."""

from __future__ import annotations

import pytest

from bot.domain.entities import Actor, IssueRef, Permission, RepoRef
from bot.domain.errors import Invalid, InvalidArgument, NotFound
from bot.github import convert
from bot.github.repository import LARGEST_FILE, RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO


def test_an_issue_as_it_is(client: RepoClient, sim: Simulator) -> None:
    opened = sim.open_issue("acme/app", "alice", "It crashes", "At start.", labels=["bug"])
    sim.react(opened, "bob", "+1")
    sim.react(opened, "carol", "-1")
    sim.comment("acme/app", 1, "bob", "Same here.")
    issue = client.issue(REPO, 1)
    assert (issue.repo, issue.number, issue.id, issue.node_id) == (REPO, 1, opened.id, opened.node_id)
    assert (issue.title, issue.body, issue.author) == ("It crashes", "At start.", Actor("alice"))
    assert (issue.state, issue.state_reason, issue.closed_at) == ("open", None, None)
    assert (issue.labels, issue.comments, issue.thumbs_up, issue.thumbs_down) == (("bug",), 1, 1, 1)
    assert issue.created_at.tzinfo is not None
    assert issue.url == "https://github.com/acme/app/issues/1"
    assert not issue.is_pull_request
    sim.close_issue("acme/app", 1, reason="not_planned")
    sim.lock_issue("acme/app", 1)
    closed = client.issue(REPO, 1)
    assert (closed.state, closed.state_reason, closed.locked) == ("closed", "not_planned", True)
    assert closed.closed_at is not None


def test_what_is_not_there_is_not_found(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    sim.delete_issue("acme/app", 1)
    for number in (1, 2):
        with pytest.raises(NotFound):
            client.issue(REPO, number)
    with pytest.raises(NotFound, match="read globex/nothing#1: 404 Not Found"):
        client.issue(RepoRef("globex", "nothing"), 1)
    with pytest.raises(NotFound):
        client.comment(REPO, 12345)


def test_a_renamed_repository_answers_under_its_new_name(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    sim.rename_repository("acme/app", "application")
    assert client.issue(REPO, 1).repo == RepoRef("acme", "application")
    assert client.repository(REPO).ref == RepoRef("acme", "application")
    assert client.comments(REPO, 1) == []


@pytest.mark.parametrize("before", [0, 1])
def test_a_transferred_issue_is_not_taken_for_the_one_that_was_here(
    client: RepoClient, sim: Simulator, before: int
) -> None:
    """Its number at the new place may be the old one by chance."""
    sim.add_repository("acme/other")
    sim.install("acme/other")
    for _ in range(before):
        sim.open_issue("acme/other", "alice", "Someone else's", "")
    sim.open_issue("acme/app", "alice", "One", "")
    sim.transfer_issue("acme/app", 1, "acme/other")
    with pytest.raises(NotFound, match=f"transferred to acme/other#{before + 1}"):
        client.issue(REPO, 1)


def test_a_sub_issue_says_of_what_wherever_that_is(client: RepoClient, sim: Simulator) -> None:
    whole = sim.open_issue("acme/app", "alice", "One", "")
    sim.open_issue("acme/app", "alice", "A part of it", "", parent=whole)
    assert client.issue(REPO, 1).parent is None
    assert client.issue(REPO, 2).parent == IssueRef(REPO, 1)
    sim.add_repository("acme/other")
    sim.transfer_issue("acme/app", 1, "acme/other")
    assert client.issue(REPO, 2).parent == IssueRef(RepoRef("acme", "other"), 1)


def test_recent_issues_are_the_newest_without_pull_requests(client: RepoClient, sim: Simulator) -> None:
    for number in range(1, 121):
        opened = sim.open_issue("acme/app", "alice", f"Issue {number}", "")
        opened.is_pull_request = number % 3 == 0
        sim.clock.advance(1)
    sim.close_issue("acme/app", 119)
    assert [issue.number for issue in client.recent_issues(REPO, 5)] == [119, 118, 116, 115, 113]
    assert len(client.recent_issues(REPO, 1_000)) == 80
    assert client.recent_issues(REPO, 0) == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("none", Permission()),
        ("read", Permission(pull=True)),
        ("triage", Permission(pull=True, triage=True)),
        ("write", Permission(pull=True, triage=True, push=True)),
        ("maintain", Permission(pull=True, triage=True, push=True, maintain=True)),
        ("admin", Permission(pull=True, triage=True, push=True, maintain=True, admin=True)),
    ],
)
def test_c5_the_booleans_not_the_word(client: RepoClient, sim: Simulator, role: str, expected: Permission) -> None:
    sim.add_repository("acme/secret", private=True)
    sim.install("acme/secret")
    sim.set_permission("acme/secret", "bob", role)  # type: ignore[arg-type]
    assert client.permission(RepoRef("acme", "secret"), "bob") == expected


@pytest.mark.parametrize("login", ["nobody-at-all", "dependabot[bot]", "../../app", "a/b", "x?y=z"])
def test_c5_who_is_nobody_may_do_nothing(client: RepoClient, login: str) -> None:
    assert client.permission(REPO, login) == Permission()


def test_c5_the_word_alone_permits_nothing() -> None:
    for answer in ({"permission": "admin"}, {"permission": "write", "user": None}, {"user": {"login": "x"}}, {}):
        assert convert.permission(answer) == Permission()


def test_files_and_folders(client: RepoClient, sim: Simulator) -> None:
    sim.write_file("acme/app", ".github/doppel.yml", "mode: comment # été\n")
    sim.write_file("acme/app", ".github/ISSUE_TEMPLATE/bug report.yml", "name: Bug\n")
    sim.write_file("acme/app", ".github/ISSUE_TEMPLATE/old/x.yml", "")
    sim.write_file("acme/app", "bytes", b"\xff\xfe ok")
    assert client.file(REPO, ".github/doppel.yml") == "mode: comment # été\n"
    assert client.directory(REPO, ".github/ISSUE_TEMPLATE") == ["bug report.yml", "old/"]
    assert client.file(REPO, ".github/ISSUE_TEMPLATE/bug report.yml") == "name: Bug\n"
    assert client.file(REPO, "bytes") == "�� ok"
    assert client.file(REPO, ".github") is None, "a folder is no file"
    assert client.directory(REPO, ".github/doppel.yml") == [], "a file is no folder"
    assert client.file(REPO, "absent") is None
    assert client.directory(REPO, "absent") == []
    assert client.directory(REPO, "") == [".github/", "bytes"]


def test_a_huge_file_is_refused(client: RepoClient, sim: Simulator) -> None:
    sim.write_file("acme/app", "small", "x" * LARGEST_FILE)
    sim.write_file("acme/app", "huge", "x" * (LARGEST_FILE + 1))
    assert len(client.file(REPO, "small") or "") == LARGEST_FILE
    with pytest.raises(Invalid, match="more than 1 MiB"):
        client.file(REPO, "huge")


@pytest.mark.parametrize("path", ["../../../user", "a/../../b", "", "/etc", "a//b", "."])
def test_a_path_stays_inside_its_repository(client: RepoClient, path: str) -> None:
    with pytest.raises(InvalidArgument, match="path"):
        client.file(REPO, path)


def test_ghosts_and_old_answers_are_understood() -> None:
    """What Enterprise servers and deleted accounts leave out."""
    issue = convert.issue(
        {
            "repository_url": "https://ghe.example/api/v3/repos/acme/app",
            "id": 1,
            "node_id": "x",
            "number": 2,
            "title": "t",
            "body": None,
            "state": "open",
            "user": None,
            "labels": ["old", {"name": "new"}, {"name": None}],
            "created_at": "2020-01-02T03:04:05Z",
            "updated_at": "2020-01-02T03:04:05+00:00",
            "closed_at": None,
            "html_url": "u",
        }
    )
    assert (issue.author.login, issue.body, issue.labels) == ("ghost", "", ("old", "new", ""))
    assert issue.created_at == issue.updated_at
