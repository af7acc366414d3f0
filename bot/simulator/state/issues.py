"""Issues with comments, reactions and history. A pull request is an `Issue` with only what the issues API shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from bot.simulator.state.accounts import Account
from bot.simulator.state.repositories import Label, Repository

IssueState = Literal["open", "closed"]
StateReason = Literal["completed", "not_planned", "duplicate", "reopened"]

# https://docs.github.com/rest/reactions/reactions#about-reactions
REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")

# GitHub refuses longer texts with 422.
TITLE_MAX = 256
BODY_MAX = 65_536


@dataclass(slots=True, eq=False)
class Reaction:
    """One emoji by one account."""

    id: int
    node_id: str
    user: Account
    content: str
    created_at: datetime


@dataclass(slots=True, eq=False)
class Comment:
    """A comment on an issue. `minimized` says why it was hidden; None if it was not."""

    id: int
    node_id: str
    issue: Issue
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: list[Reaction] = field(default_factory=list)
    minimized: str | None = None


@dataclass(slots=True, eq=False)
class TimelineEvent:
    """An event in an issue's history. `event` is the kind, and `data` has the kind's own fields."""

    id: int
    node_id: str
    event: str
    actor: Account
    created_at: datetime
    data: dict[str, Any]


@dataclass(slots=True, eq=False)
class Suggestion:
    """A proposal that a maintainer approves or dismisses: either to add `label`, or to close the
    issue as a duplicate of `original`.
    """

    id: int
    label: Label | None
    actor: Account
    rationale: str | None
    confidence: str | None
    created_at: datetime
    updated_at: datetime
    state: str = "pending"
    resolved_by: Account | None = None
    original: Issue | None = None


@dataclass(slots=True, eq=False)
class Issue:
    """An issue, or a pull request as the issues API shows one. `parts` are its sub-issues."""

    id: int
    node_id: str
    repository: Repository
    number: int
    author: Account
    title: str
    body: str | None
    created_at: datetime
    updated_at: datetime
    state: IssueState = "open"
    state_reason: StateReason | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    duplicate_of: Issue | None = None
    parent: Issue | None = None
    parts: list[Issue] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    type: str | None = None
    milestone: str | None = None
    locked: bool = False
    lock_reason: str | None = None
    is_pull_request: bool = False
    merged_at: datetime | None = None
    comments: list[Comment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    suggestions: list[Suggestion] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Tombstone:
    """A placeholder for an issue that was transferred to `moved_to`, or deleted if `moved_to` is None."""

    moved_to: Issue | None = None
