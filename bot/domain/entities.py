"""GitHub's repositories, issues, comments and people: immutable values with the fields we use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.domain.errors import InvalidArgument

OWNER = "[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
"""A regular expression for logins. Logins of managed users end in `_` and the short code of their enterprise."""

OWNER_REPO = rf"{OWNER}/(?!\.{{1,2}}(?![A-Za-z0-9._-]))[A-Za-z0-9._-]{{1,100}}"
"""A regular expression for `owner/repo`, except the names `.` and `..`, which would change an API address's path."""

BODY_MAX = 65_536
"""GitHub's limit for the text of an issue or a comment, in characters."""

StateFilter = Literal["open", "closed", "all"]
"""The states of issues to search."""


def name_key(name: str) -> str:
    """A login or a repository's name in lower case, for comparing and storing, because GitHub ignores case."""
    return name.lower()


def same_login(login: str, other: str) -> bool:
    """Whether two logins belong to one account."""
    return name_key(login) == name_key(other)


@dataclass(frozen=True, slots=True, order=True)
class RepoRef:
    """A repository's name. Names can change, so the store uses ids."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """For comparing; see `name_key`."""
        return name_key(str(self))

    @classmethod
    def parse(cls, text: str) -> RepoRef:
        """Read `OWNER/REPO`; raises InvalidArgument for anything else."""
        if not re.fullmatch(OWNER_REPO, text):
            raise InvalidArgument("repository", f"{text!r} is not of the form OWNER/REPO")
        owner, name = text.split("/")
        return cls(owner, name)

    @classmethod
    def of(cls, owner: str, repo: str) -> RepoRef:
        """Join an owner and a name. Raises an InvalidArgument that names the wrong argument (F1)."""
        if not (isinstance(owner, str) and re.fullmatch(OWNER, owner)):
            raise InvalidArgument("owner", f"{owner!r} is not the name of an account, OWNER in OWNER/REPO")
        if not (isinstance(repo, str) and re.fullmatch(OWNER_REPO, f"{owner}/{repo}")):
            raise InvalidArgument("repo", f"{repo!r} is not the name of a repository, REPO in OWNER/REPO")
        return cls(owner, repo)


NUMBER_MAX = 2**31 - 1
"""The largest issue number that GitHub's API accepts."""


@dataclass(frozen=True, slots=True, order=True)
class IssueRef:
    """An issue's repository and number."""

    repo: RepoRef
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"

    @property
    def key(self) -> str:
        """For comparing (H3); see `name_key`."""
        return name_key(str(self))

    @classmethod
    def parse(cls, text: str) -> IssueRef:
        """Read `OWNER/REPO#N`; raises InvalidArgument for anything else."""
        repo, _, number = text.partition("#")
        # Limit the digits, because Python refuses to read thousands of them.
        if not re.fullmatch("[0-9]{1,12}", number) or int(number) < 1:
            raise InvalidArgument("issue", f"{text!r} is not of the form OWNER/REPO#NUMBER")
        return cls(RepoRef.parse(repo), int(number))


NOBODY = "ghost"
"""GitHub's login for deleted accounts, and ours for an unknown author."""


@dataclass(frozen=True, slots=True)
class Actor:
    """An account that did something. GitHub gives Apps and bots the type `Bot` and a login that ends in `[bot]`."""

    login: str
    is_bot: bool = False


State = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or a pull request or discussion in the shape of an issue. All three share one sequence of numbers.

    `id` is the database id, which GitHub's field `duplicate_issue_id` expects. `state_reason` is GitHub's word, such as
    `completed`, or None. A merged pull request has the reason `merged`. An answered discussion has the reason
    `answered` if GitHub gives no reason. This issue is a sub-issue of `parent`. `association` is the author's relation
    to the repository. `type` is the name of the issue type.
    """

    repo: RepoRef
    id: int
    node_id: str
    number: int
    title: str
    body: str
    state: State
    state_reason: str | None
    author: Actor
    labels: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    url: str
    locked: bool = False
    is_pull_request: bool = False
    is_discussion: bool = False
    comments: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0
    parent: IssueRef | None = None
    association: str = ""
    type: str = ""

    @property
    def key(self) -> str:
        """For comparing (H3), as in `IssueRef`."""
        return IssueRef(self.repo, self.number).key


@dataclass(frozen=True, slots=True)
class Closer:
    """The pull request with number `pull`, or the commit with hash `commit`, that closed an issue. Neither need be set.

    `at` is when the issue was closed. `milestone` belongs to the issue or to the pull request. `release` is the release
    that may contain the fix.
    """

    pull: int = 0
    commit: str = ""
    at: datetime | None = None
    milestone: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A published release that is not a pre-release."""

    tag: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue. `app_id` is the id of the GitHub App through which it was written, if any."""

    id: int
    body: str
    author: Actor
    app_id: int | None
    created_at: datetime
    updated_at: datetime
    url: str
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class Permission:
    """A person's access (C5) as booleans, because GitHub's field `permission` has no value for triage."""

    pull: bool = False
    triage: bool = False
    push: bool = False
    maintain: bool = False
    admin: bool = False


@dataclass(frozen=True, slots=True)
class Likeness:
    """GitHub's own judgement of the similarity of two issues (F8a).

    `score` is GitHub's number, which can exceed 1, or None. `confidence` is a word from "high" to "low".
    """

    score: float | None
    confidence: str
    likely_duplicate: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as GitHub or a webhook describes it."""

    id: int
    ref: RepoRef
    private: bool
    archived: bool = False
