"""What the bot reads, and what it makes of things that have moved, are gone, or never were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.errors import Forbidden, Invalid, InvalidArgument, NotFound
from bot.github.api import convert
from bot.github.repository.reads import LARGEST_FILE
from bot.github.repository.repo import RepoClient
from bot.model import Actor, IssueRef, Permission, RepoRef
from bot.simulator import Simulator
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
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


def test_names_do_not_tell_upper_from_lower_case(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    assert client.issue(RepoRef("Acme", "APP"), 1).repo == REPO


@pytest.mark.slow
def test_all_pages_of_comments_in_order(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    for number in range(205):
        sim.comment("acme/app", 1, "bob", f"comment {number}")
    comments = client.comments(REPO, 1)
    assert [comment.body for comment in comments] == [f"comment {number}" for number in range(205)]
    assert client.comment(REPO, comments[7].id) == comments[7]


@pytest.mark.parametrize("hidden", [1, 100])
def test_a_page_from_which_something_was_taken_is_not_the_last_one(
    client: RepoClient, sim: Simulator, monkeypatch: pytest.MonkeyPatch, hidden: int
) -> None:
    """GitHub cuts a list into pages first, and then takes off them what a spammer's account has written."""
    sim.open_issue("acme/app", "alice", "One", "")
    for number in range(150):
        sim.comment("acme/app", 1, "mallory" if number < hidden else "bob", f"comment {number}")
    whole = Context.page

    def page(self: Context, items: Sequence[Any], show: Callable[[Any], Any]) -> Reply:
        reply = whole(self, items, show)
        return replace(reply, body=[one for one in reply.body if one["user"]["login"] != "mallory"])

    monkeypatch.setattr(Context, "page", page)
    assert [comment.body for comment in client.comments(REPO, 1)] == [f"comment {at}" for at in range(hidden, 150)]


def test_a_comment_says_which_app_wrote_it(client: RepoClient, sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "One", "")
    sim.comment("acme/app", 1, "bob", "from a person")
    client.create_comment(REPO, 1, "from the bot")
    person, bot = client.comments(REPO, 1)
    assert (person.app_id, person.author.is_bot) == (None, False)
    assert (bot.app_id, bot.author) == (sim.app.id, Actor("doppel[bot]", is_bot=True))


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


def test_c5_an_old_server_that_sends_only_the_word_is_not_trusted_further() -> None:
    assert convert.permission({"permission": "write"}) == Permission(pull=True, triage=True, push=True)
    assert convert.permission({"permission": "read", "user": None}) == Permission(pull=True)
    assert convert.permission({"permission": "none", "user": {"login": "x"}}) == Permission()
    assert convert.permission({}) == Permission()


def test_labels_of_all_pages(client: RepoClient, sim: Simulator) -> None:
    for number in range(150):
        sim.create_label("acme/app", f"area/{number}")
    labels = client.labels(REPO)
    assert {"bug", "duplicate", "area/0", "area/149"} <= labels


def test_a_repository(client: RepoClient, sim: Simulator) -> None:
    sim.archive_repository("acme/app")
    repository = client.repository(REPO)
    assert (repository.ref, repository.private, repository.archived) == (REPO, False, True)


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


def test_a_missing_permission_is_named(client: RepoClient, sim: Simulator) -> None:
    sim.set_permissions("acme", {"metadata": "read"})
    sim.open_issue("acme/app", "alice", "One", "")
    with pytest.raises(Forbidden, match="403 Resource not accessible by integration"):
        client.create_comment(REPO, 1, "no")


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
