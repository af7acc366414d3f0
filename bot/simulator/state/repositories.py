"""Repositories with their labels, files, roles and project fields."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.simulator.state.accounts import Account

Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
# https://docs.github.com/organizations/managing-user-access-to-your-organizations-repositories: each role includes the
# roles before it.
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")

# GitHub refuses longer label names with 422.
LABEL_MAX = 50

# A repository's answer to a request for similar issues: issues with scores, issues alone, or an error's status.
Similarity = Literal["ranked", "bare", 403, 404, 410]
SIMILARITIES: tuple[Similarity, ...] = ("ranked", "bare", 403, 404, 410)


def at_least(role: Role, needed: Role) -> bool:
    """Whether `role` includes `needed`."""
    return ROLES.index(role) >= ROLES.index(needed)


@dataclass(slots=True, eq=False)
class Label:
    id: int
    node_id: str
    name: str
    color: str
    description: str | None
    default: bool


@dataclass(slots=True, eq=False)
class Repository:
    """A repository. `World.names` also has its former names, which redirect to it.

    `roles` are by account id, `labels` by name in lower case, `files` by path; `releases` are tags with their times.
    `head` is the hash of the last commit (zeros before the first). `last_number` is the number of the last issue or
    discussion. `suggestions` says whether clients can suggest labels and closings to maintainers.
    """

    id: int
    node_id: str
    owner: Account
    name: str
    created_at: datetime
    updated_at: datetime
    pushed_at: datetime
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    description: str | None = None
    default_branch: str = "main"
    suggestions: bool = True
    releases: list[tuple[str, datetime]] = field(default_factory=list)
    similarity: Similarity = 404
    roles: dict[int, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    head: str = "0" * 40
    last_number: int = 0
    open_issues: int = 0

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"


@dataclass(slots=True, eq=False)
class Project:
    """An organization's project (v2) with single-select fields: field name → options."""

    id: int
    node_id: str
    owner: Account
    number: int
    title: str
    fields: dict[str, list[str]]


@dataclass(slots=True, eq=False)
class ProjectItem:
    """An issue on a project, with the chosen option of each single-select field."""

    id: int
    node_id: str
    project: Project
    issue_id: int
    values: dict[str, str] = field(default_factory=dict)


def blob_sha(content: bytes) -> str:
    """Git's id of a file's content: SHA-1 over a header and the bytes."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content, usedforsecurity=False).hexdigest()
