"""Issues of the bot's own, one of a kind in each repository: opened once, then edited (D8, C7).

It is known by its row in the store, and by its hidden marker where the row cannot say: after an attempt that was not
answered, or with a new store. The marker counts only in an issue that this App wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import sqlalchemy as sa

from bot.errors import GitHubError, NotFound, RateLimited, Retryable, Unavailable
from bot.model import Issue, RepoRef
from bot.posts.marker import fingerprint, is_digest, is_scan
from bot.store.base import Part
from bot.store.decision_tables import digest_issues
from bot.store.scan_tables import scan_issues


class Kind(StrEnum):
    """`SCAN` shows the groups of the backlog, `DIGEST` what the bot did in the last week."""

    SCAN = "scan"
    DIGEST = "digest"


_TABLES = {Kind.SCAN: scan_issues, Kind.DIGEST: digest_issues}
_IS: dict[Kind, Callable[[str], bool]] = {Kind.SCAN: is_scan, Kind.DIGEST: is_digest}

#: Seconds after which an unanswered creation has happened or never will, as for comments (`bot/posts/comments.py`).
LEASE = 35.0


class IssueApi(Protocol):
    """The operations on GitHub that are needed here."""

    def issue(self, repo: RepoRef, number: int) -> Issue: ...

    def issues_of(self, repo: RepoRef, login: str) -> list[Issue]: ...

    def create_issue(self, repo: RepoRef, title: str, body: str) -> Issue: ...

    def edit_issue(self, repo: RepoRef, number: int, body: str) -> Issue: ...

    def reopen(self, repo: RepoRef, number: int) -> Issue: ...


@dataclass(frozen=True, slots=True)
class KeptIssue:
    """`number` is None while nobody knows whether it was opened, at a time in seconds since 1970."""

    number: int | None
    updated_at: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a repository's one issue is to say. `login` is the App's own; one that is opened gets the title."""

    repo_id: int
    repo: RepoRef
    login: str
    title: str
    body: str


class OwnIssues(Part):
    """The numbers of one kind of issues, one in each repository."""

    def __init__(self, engine: sa.Engine, kind: Kind) -> None:
        super().__init__(engine)
        self.kind = kind
        self._table = _TABLES[kind]

    def get(self, repo_id: int) -> KeptIssue | None:
        """None where there was none, or it was deleted."""
        table = self._table
        row = self._first(sa.select(table.c.number, table.c.updated_at).where(table.c.repo_id == repo_id))
        return None if row is None else KeptIssue(row.number, row.updated_at)

    def set(self, repo_id: int, number: int | None, now: float) -> None:
        """Note the issue, or with None that it is about to be opened."""
        values = {"number": number, "updated_at": now}
        self._change(self._upsert(self._table, {"repo_id": repo_id}, values))

    def drop(self, repo_id: int) -> None:
        """Note that there is none."""
        self._change(sa.delete(self._table).where(self._table.c.repo_id == repo_id))


def is_own_issue(issue: Issue) -> bool:
    """Whether this is an issue of the bot's own: it is never indexed, found or answered as an issue."""
    return any(is_kind(issue, kind) for kind in Kind)


def is_kind(issue: Issue, kind: Kind) -> bool:
    """Whether this is the bot's own issue of that kind."""
    return issue.author.is_bot and _IS[kind](issue.body)


def keep_issue(github: IssueApi, store: OwnIssues, wanted: Wanted, now: float, *, reopen: bool = True) -> int:
    """Have the one issue say what is wanted; its number.

    One that was closed is opened again, where a maintainer has just asked for it; without `reopen` it is left alone.
    One that was deleted is opened anew. Raises Retryable while nobody can know whether an earlier attempt succeeded,
    and what GitHub raises.
    """
    repo_id, repo = wanted.repo_id, wanted.repo
    kept = store.get(repo_id)
    if kept is not None and kept.number is not None:
        try:
            return _edit(github, wanted, github.issue(repo, kept.number), reopen)
        except NotFound:
            store.drop(repo_id)
            kept = None
    # An attempt far ahead of this clock is from before that was set back.
    if kept is not None and abs(now - kept.updated_at) < LEASE:
        raise Retryable(f"another attempt is opening the issue of the {store.kind} in {repo}", after=LEASE)
    own = next((issue for issue in github.issues_of(repo, wanted.login) if is_kind(issue, store.kind)), None)
    if own is not None:
        number = _edit(github, wanted, own, reopen)
    else:
        store.set(repo_id, None, now)
        try:
            number = github.create_issue(repo, wanted.title, wanted.body).number
        except (GitHubError, RateLimited):
            store.drop(repo_id)
            raise
        except Unavailable as unanswered:
            raise Retryable(str(unanswered), after=max(LEASE, unanswered.after or 0)) from unanswered
    store.set(repo_id, number, now)
    return number


def _edit(github: IssueApi, wanted: Wanted, issue: Issue, reopen: bool) -> int:
    if issue.state == "closed" and not reopen:
        return issue.number
    if fingerprint(issue.body) != fingerprint(wanted.body):
        github.edit_issue(wanted.repo, issue.number, wanted.body)
    if issue.state == "closed":
        github.reopen(wanted.repo, issue.number)
    return issue.number
