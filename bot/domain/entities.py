"""The few things of GitHub's that the whole project talks about, as narrow immutable values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.domain.errors import InvalidArgument

OWNER = "[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
"""A regular expression for logins. Those of managed users end in `_` and their enterprise's short code (GitHub's
manual, "Enterprise Managed Users")."""

PLACE = rf"{OWNER}/(?!\.{{1,2}}(?![A-Za-z0-9._-]))[A-Za-z0-9._-]{{1,100}}"
"""A regular expression for `owner/repo`. No repository is called `.` or `..`, which in an address of GitHub's API would
lead to another place than a repository's."""


BODY_MAX = 65_536
"""Characters of an issue's or a comment's text, GitHub's own limit."""

StateFilter = Literal["open", "closed", "all"]
"""Which issues a question is about."""


def name_key(name: str) -> str:
    """A login, `owner/repo` or `owner/repo#number` in the one form in which equal ones are written, also in the store.

    GitHub's names do not tell upper from lower case.
    """
    return name.lower()


def same_login(one: str, other: str) -> bool:
    """Whether two logins are one account's."""
    return name_key(one) == name_key(other)


@dataclass(frozen=True, slots=True, order=True)
class RepoRef:
    """A repository by name. Names can change; what is stored is keyed by the repository's id."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """By which alone a name is compared with others; see `name_key`."""
        return name_key(str(self))

    @classmethod
    def parse(cls, text: str) -> RepoRef:
        """Read `OWNER/REPO`; anything else is an InvalidArgument."""
        if not re.fullmatch(PLACE, text):
            raise InvalidArgument("repository", f"{text!r} is not of the form OWNER/REPO")
        owner, name = text.split("/")
        return cls(owner, name)

    @classmethod
    def of(cls, owner: str, repo: str) -> RepoRef:
        """Read an owner and a name that were given apart; InvalidArgument names which of the two is wrong (F1)."""
        if not (isinstance(owner, str) and re.fullmatch(OWNER, owner)):
            raise InvalidArgument("owner", f"{owner!r} is not the name of an account, OWNER in OWNER/REPO")
        if not (isinstance(repo, str) and re.fullmatch(PLACE, f"{owner}/{repo}")):
            raise InvalidArgument("repo", f"{repo!r} is not the name of a repository, REPO in OWNER/REPO")
        return cls(owner, repo)


NUMBER_MAX = 2**31 - 1
"""The largest number that GitHub's API takes for an issue."""


@dataclass(frozen=True, slots=True, order=True)
class IssueRef:
    """An issue by repository and number."""

    repo: RepoRef
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"

    @property
    def key(self) -> str:
        """By which alone an issue is told from others (H3); see `name_key`."""
        return name_key(str(self))

    @classmethod
    def parse(cls, text: str) -> IssueRef:
        """Read `OWNER/REPO#N`; anything else is an InvalidArgument."""
        repo, _, number = text.partition("#")
        # Of more digits than any issue has, some thousands are none that Python reads.
        if not re.fullmatch("[0-9]{1,12}", number) or int(number) < 1:
            raise InvalidArgument("issue", f"{text!r} is not of the form OWNER/REPO#NUMBER")
        return cls(RepoRef.parse(repo), int(number))


NOBODY = "ghost"
"""GitHub's login of everybody whose account is deleted, and ours of an author whom nobody names."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something. GitHub marks Apps and bots with type `Bot` and a login that ends in `[bot]`."""

    login: str
    is_bot: bool = False


State = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as a search, a list or a direct read returns it.

    `id` is the database id (which `duplicate_issue_id` wants), `number` the number in its repository.
    `state_reason` is GitHub's word (`completed`, `not_planned`, `duplicate`, `reopened`) or None; a pull request that
    was merged has `merged`. Pull requests and discussions come in the shape of issues and share their numbers. `parent`
    is the issue that it was made a sub-issue of, `association` what its author is to the repository, and `type` the
    name of its type, where that was read of GitHub itself.
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
        """By which alone it is told from others (H3), as `IssueRef` has it."""
        return IssueRef(self.repo, self.number).key


@dataclass(frozen=True, slots=True)
class Closer:
    """What closed an issue, in its repository: the `pull` request of that number, else the `commit` of that hash.

    `at` is when, `milestone` what the issue or the pull request was meant for, and `release` in which it may be mended,
    where the issue that is looked at names an earlier one.
    """

    pull: int = 0
    commit: str = ""
    at: datetime | None = None
    milestone: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A release that is published and no pre-release, by the name of its tag."""

    tag: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue. `app_id` is the GitHub App that wrote it, None for people; `node_id` is for GraphQL."""

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
    """What somebody may do in a repository: the booleans of the collaborator permission endpoint (C5)."""

    pull: bool = False
    triage: bool = False
    push: bool = False
    maintain: bool = False
    admin: bool = False


@dataclass(frozen=True, slots=True)
class Likeness:
    """What GitHub says of how like an issue another one is (F8a).

    `score` is on a scale of GitHub's own, which passes 1, and None where it gives none; `confidence` is a word from
    "high" to "low"; `likely_duplicate` is its verdict.
    """

    score: float | None
    confidence: str
    likely_duplicate: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as far as the bot must know it, from GitHub's answer or from a webhook."""

    id: int
    ref: RepoRef
    private: bool
    archived: bool = False
