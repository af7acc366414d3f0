"""Converts GitHub's JSON into the values of `bot.domain.entities`. Pure.

The functions read JSON instead of githubkit's models: validating a page of 100 issues takes longer than fetching the
page, and Enterprise servers omit fields that the models require.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot.domain.entities import NOBODY, Actor, Comment, Issue, IssueRef, Permission, RepoRef, Repository

Json = Mapping[str, Any]

GHOST = Actor(NOBODY)


def issue(data: Json) -> Issue:
    reactions = data.get("reactions") or {}
    closed_at, parent = data.get("closed_at"), data.get("parent_issue_url") or ""
    pull_request = data.get("pull_request") or {}
    parent_repo, _, parent_number = parent.rpartition("/issues/")
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
        parent=IssueRef(_repo_of(parent_repo), int(parent_number)) if parent else None,
        association=data.get("author_association") or "",
        type=(data.get("type") or {}).get("name") or "",
    )


def comment(data: Json) -> Comment:
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
    return Repository(
        id=data["id"],
        ref=_repo_of(data["full_name"]),
        private=bool(data.get("private")),
        archived=bool(data.get("archived")),
    )


def permission(data: Json) -> Permission:
    """A person's access (C5). Reads GitHub's booleans, because the field `permission` calls triage access "read"."""
    granted = (data.get("user") or {}).get("permissions") or {}
    names = ("pull", "triage", "push", "maintain", "admin")
    return Permission(**{name: bool(granted.get(name)) for name in names})


def actor(data: Json | None) -> Actor:
    """A user or a bot; GHOST for an account that no longer exists."""
    return Actor(data["login"], data.get("type") == "Bot") if data else GHOST


def label_name(data: Json | str) -> str:
    """The name of a label. Old answers give a label as a plain string."""
    return data if isinstance(data, str) else data.get("name") or ""


def moment(text: str) -> datetime:
    """Read a time in GitHub's format, `2026-03-10T09:00:00Z`."""
    return datetime.fromisoformat(text)


def as_text(when: datetime) -> str:
    """Write a time in GitHub's format."""
    # `strftime` writes years before 1000 with fewer digits.
    return when.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _repo_of(address: str) -> RepoRef:
    """The repository of `…/repos/OWNER/NAME` or `OWNER/NAME`."""
    owner, name = address.rsplit("/", 2)[-2:]
    return RepoRef(owner, name)
