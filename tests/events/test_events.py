"""Payloads become narrow events or a reason; what is malformed is named; events survive the queue."""

from __future__ import annotations

from typing import Any

import pytest

from bot.deliveries.events import JUDGED, Ignored, InstallationEvent, PushEvent, from_json, own_issue_event, to_json
from bot.deliveries.payloads import MalformedPayload, parse
from bot.domain.entities import Actor, RepoRef, Repository

REPOSITORY = {"id": 7, "full_name": "acme/app", "private": True, "archived": False, "default_branch": "main"}
ANN = {"login": "ann", "type": "User"}


def issues(action: str, **more: Any) -> dict[str, Any]:
    issue = {"number": 3, "user": ANN, "locked": False, "state_reason": None, **more.pop("issue", {})}
    return {
        "action": action,
        "issue": issue,
        "repository": REPOSITORY,
        "sender": ANN,
        "installation": {"id": 5},
        **more,
    }


def comment(action: str, body: str, **more: Any) -> dict[str, Any]:
    author = more.pop("author", ANN)
    return {**issues(action, **more), "comment": {"id": 11, "body": body, "user": author}}


def queued(name: str, payload: Any) -> Any:
    event = parse(name, payload)
    assert not isinstance(event, Ignored), event
    assert from_json(to_json(event)) == event
    return event


def ignored(name: str, payload: Any) -> str:
    event = parse(name, payload)
    assert isinstance(event, Ignored)
    return event.reason


def test_c1_an_opened_issue() -> None:
    event = queued("issues", issues("opened"))
    assert event.partition == "7#3"
    assert event.installation == 5
    assert event.repository.ref == RepoRef("acme", "app")
    assert event.sender == Actor("ann")


@pytest.mark.parametrize("name", ["issues", "installation", "installation_repositories", "repository", "push"])
def test_c1_a_comments_delivery_is_no_other_event(name: str) -> None:
    """The name is a header, which nobody has signed."""
    with pytest.raises(MalformedPayload, match=f"belongs to another event than {name}"):
        parse(name, comment("deleted", "Never mind."))


def test_c1_an_edit_counts_only_when_title_or_body_changed() -> None:
    assert queued("issues", issues("edited", changes={"title": {"from": "old"}})).action == "edited"
    assert ignored("issues", issues("edited", changes={})) == "neither title nor body changed"


@pytest.mark.parametrize("action", ["reopened", "deleted", "closed"])
def test_c1_other_issue_actions(action: str) -> None:
    assert queued("issues", issues(action)).action == action


def test_c1_labels_carry_their_name() -> None:
    event = queued("issues", issues("labeled", label={"name": "question"}))
    assert getattr(event, "label", None) == "question"


def test_c1_a_transfer_is_of_the_issue_that_left() -> None:
    changes = {"new_issue": {"number": 9}, "new_repository": {"full_name": "acme/other"}}
    assert queued("issues", issues("transferred", changes=changes)).partition == "7#3"


def test_c1_pull_requests_and_unneeded_actions_are_ignored() -> None:
    assert "pull request" in ignored("issues", issues("opened", issue={"pull_request": {"url": "x"}}))
    assert ignored("issues", issues("assigned")) == "issues.assigned needs no work"


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("issue_comment", "pinned"),
        ("installation", "added"),
        ("installation_repositories", "suspend"),
        ("repository", "created"),
    ],
)
def test_c1_actions_that_need_no_work_are_named(name: str, action: str) -> None:
    payload = comment(action, "/duplicates") if name == "issue_comment" else {"action": action, "sender": ANN}
    assert ignored(name, payload) == f"{name}.{action} needs no work"


def test_c1_what_bots_cause_is_marked() -> None:
    event = queued("issues", {**issues("opened"), "sender": {"login": "renovate[bot]", "type": "Bot"}})
    assert event.sender == Actor("renovate[bot]", is_bot=True)


def test_c1_a_deleted_account_is_a_ghost() -> None:
    assert queued("issues", {**issues("opened"), "sender": None}).sender == Actor("ghost")


def test_c1_comments_with_a_command_are_queued() -> None:
    event = queued("issue_comment", comment("created", "hello\n/duplicates"))
    assert getattr(event, "comment_id", None) == 11
    wide = queued("issue_comment", comment("created", "／ｄｕｐｌｉｃａｔｅｓ"))
    assert getattr(wide, "comment_id", None) == 11
    edited = comment("edited", "never mind", changes={"body": {"from": "/duplicates not #3"}})
    assert getattr(queued("issue_comment", edited), "previous", None) == "/duplicates not #3"


def test_c1_comments_that_need_no_work() -> None:
    bot = {"login": "doppel[bot]", "type": "Bot"}
    assert ignored("issue_comment", comment("created", "me too")) == "a comment without a command"
    assert "bots" in ignored("issue_comment", {**comment("created", "/duplicates"), "sender": bot})
    assert "person" in ignored("issue_comment", comment("deleted", "/duplicates"))
    assert "bots" in ignored("issue_comment", comment("edited", "/duplicates of #1", author=bot))
    assert queued("issue_comment", comment("deleted", "…", author=bot)).action == "deleted"
    for changes in ({}, {"body": None}):
        same = comment("edited", "/duplicates of #1", changes=changes)
        assert ignored("issue_comment", same) == "the comment's text did not change"
    assert "did not change" in ignored("issue_comment", comment("edited", "/duplicates of #1"))


def test_c1_installations() -> None:
    payload = {"installation": {"id": 5, "account": {"login": "acme"}}, "sender": ANN}
    for name, action in (("installation", "created"), ("installation_repositories", "removed")):
        assert queued(name, {**payload, "action": action}) == InstallationEvent(name, action, 5)


@pytest.mark.parametrize("action", ["renamed", "transferred"])
@pytest.mark.parametrize("changes", [{}, {"repository": {}}, {"owner": {"from": {}}}])
def test_c1_what_is_not_needed_of_a_repository_event_refuses_none(action: str, changes: dict[str, Any]) -> None:
    """GitHub is asked for its present name anyway."""
    payload = {"repository": REPOSITORY, "sender": ANN, "installation": {"id": 5}}
    event = queued("repository", {**payload, "action": action, "changes": changes})
    assert event.repository.ref == RepoRef("acme", "app")


def test_c1_a_push_counts_when_it_touches_the_settings_on_the_default_branch() -> None:
    def push(ref: str, *paths: str) -> dict[str, Any]:
        commit = {"added": [], "modified": list(paths), "removed": []}
        return {"ref": ref, "commits": [commit], "repository": REPOSITORY, "sender": ANN, "installation": {"id": 5}}

    for path in (
        ".github/doppel.yml",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".github/ISSUE_TEMPLATE.md",
        "issue_template.txt",
        "docs/ISSUE_TEMPLATE",
    ):
        assert isinstance(queued("push", push("refs/heads/main", path, "src/a.c")), PushEvent), path
    assert "neither" in ignored("push", push("refs/heads/main", "src/a.c"))
    assert "another branch" in ignored("push", push("refs/heads/next", ".github/doppel.yml"))


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ([], "JSON object"),
        ({}, "payload.action"),
        ({**issues("opened"), "issue": "x"}, "payload.issue"),
        (issues("opened", issue={"number": True}), "payload.issue.number"),
        ({**issues("opened"), "repository": {**REPOSITORY, "full_name": "../etc"}}, "full_name"),
    ],
)
def test_a_malformed_payload_is_named(payload: Any, named: str) -> None:
    with pytest.raises(MalformedPayload, match=named.replace(".", r"\.")):
        parse("issues", payload)


def test_what_the_bot_queues_for_itself_is_written_as_ever() -> None:
    """Workers of other versions read it too."""
    event = own_issue_event(JUDGED, 7, Repository(5, RepoRef("acme", "app"), private=True), 3, "ann")
    assert from_json(to_json(event)) == event
    assert to_json(event) == (
        '{"kind":"issue","action":"judged","installation":7,"repository":{"id":5,"ref":{"owner":"acme","name":"app"},'
        '"private":true,"archived":false},"number":3,"sender":{"login":"ann","is_bot":false},'
        '"author":{"login":"ann","is_bot":false},"label":"","closed_at":""}'
    )
