"""GitHub's JSON to the values of `bot.model`. Pure.

The JSON is read as it comes, not through githubkit's models: validating a page of 100 issues costs more than asking
for it, and Enterprise servers leave out fields that the models require.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.model import NOBODY, Actor, Comment, Issue, IssueRef, Permission, RepoRef, Repository

Json = Mapping[str, Any]

GHOST = Actor(NOBODY)


def issue(data: Json) -> Issue:
    """An issue (or pull request) of a direct read, a list or a search."""
    reactions = data.get("reactions") or {}
    closed_at = data.get("closed_at")
    pull_request = data.get("pull_request") or {}
    parent = data.get("parent_issue_url")
    return Issue(
        repo=_repo_of(data["repository_url"]),
        id=data["id"],
        node_id=data["node_id"],
        number=data["number"],
        title=data["title"],
        body=data.get("body") or "",
        state="open" if data["state"] == "open" else "closed",
        state_reason="merged" if pull_request.get("merged_at") else data.get("state_reason"),
        author=actor(data.get("user")),
        labels=tuple(label_name(label) for label in data.get("labels") or ()),
        created_at=moment(data["created_at"]),
        updated_at=moment(data["updated_at"]),
        closed_at=moment(closed_at) if closed_at else None,
        url=data["html_url"],
        locked=bool(data.get("locked")),
        is_pull_request=bool(pull_request),
        comments=data.get("comments") or 0,
        thumbs_up=reactions.get("+1") or 0,
        thumbs_down=reactions.get("-1") or 0,
        parent=_issue_of(parent) if parent else None,
        association=data.get("author_association") or "",
        type=(data.get("type") or {}).get("name") or "",
    )


def comment(data: Json) -> Comment:
    """A comment on an issue."""
    app = data.get("performed_via_github_app") or {}
    return Comment(
        id=data["id"],
        body=data.get("body") or "",
        author=actor(data.get("user")),
        app_id=app.get("id"),
        created_at=moment(data["created_at"]),
        updated_at=moment(data["updated_at"]),
        url=data["html_url"],
        node_id=data.get("node_id") or "",
    )


def repository(data: Json) -> Repository:
    """A repository."""
    return Repository(
        id=data["id"],
        ref=_repo_of(data["full_name"]),
        private=bool(data.get("private")),
        archived=bool(data.get("archived")),
    )


def permission(data: Json) -> Permission:
    """C5: the booleans of the collaborator permission endpoint.

    Its word `permission` calls triage "read" and maintain "write"; it is used only where an old server sends no
    booleans, and then never says more than it surely means.
    """
    granted = (data.get("user") or {}).get("permissions")
    if not isinstance(granted, Mapping):
        words = {"admin": 5, "write": 3, "read": 1}
        level = words.get(data.get("permission", ""), 0)
        granted = {name: level > at for at, name in enumerate(("pull", "triage", "push", "maintain", "admin"))}
    return Permission(
        pull=bool(granted.get("pull")),
        triage=bool(granted.get("triage")),
        push=bool(granted.get("push")),
        maintain=bool(granted.get("maintain")),
        admin=bool(granted.get("admin")),
    )


def actor(data: Json | None) -> Actor:
    """A user, a bot, or nobody any more."""
    return Actor(data["login"], data.get("type") == "Bot") if data else GHOST


def label_name(data: Json | str) -> str:
    """The name of a label, which old answers give as a mere string."""
    return data if isinstance(data, str) else data.get("name") or ""


def moment(text: str) -> datetime:
    """A time as GitHub writes it, `2026-03-10T09:00:00Z`."""
    return datetime.fromisoformat(text)


def _repo_of(address: str) -> RepoRef:
    """The repository that `…/repos/OWNER/NAME` or `OWNER/NAME` is about."""
    owner, name = address.rsplit("/", 2)[-2:]
    return RepoRef(owner, name)


def _issue_of(address: str) -> IssueRef:
    """The issue at `…/repos/OWNER/NAME/issues/N`."""
    repository, _, number = address.rpartition("/issues/")
    return IssueRef(_repo_of(repository), int(number))
