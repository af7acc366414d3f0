"""The bot's own issues, one of each kind in a repository: opened once, then edited (D8, C7).

An issue is known by its row in the store, or else by its hidden marker, which counts only in issues of this App.

A machine can stand still longer than its claim holds, just before it opens the issue. The bot closes one that comes too
late, now or at the next attempt, since people may use the first one already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from bot.conversation.comments import LEASE
from bot.conversation.marker import DIGEST, SCAN, fingerprint
from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import GitHubError, NotFound, RateLimited, Retryable, Unavailable
from bot.github.repository import RepoClient
from bot.storage.repositories import OwnIssueKind, OwnIssues

_MARKERS = {OwnIssueKind.SCAN: SCAN, OwnIssueKind.DIGEST: DIGEST}

TITLE_MAX = 256
"""Characters, GitHub's limit; a repository's own templates can be longer."""


@dataclass(frozen=True, slots=True)
class IssueDraft:
    """The content of an own issue. `login` is the App's; a new issue gets the `title`.

    `body` makes the new text from the present one, which is empty for a new issue.
    """

    repo_id: int
    repo: RepoRef
    login: str
    title: str
    body: Callable[[str], str]


def is_own_issue(issue: Issue, kept: Collection[int] = ()) -> bool:
    """Whether this is one of the bot's own issues, which are never indexed, found or answered.

    `kept` are the numbers that the store has for the repository: somebody may have edited the marker away.
    """
    return issue.number in kept or any(is_kind(issue, kind) for kind in OwnIssueKind)


def is_kind(issue: Issue, kind: OwnIssueKind) -> bool:
    """Whether this is the bot's own issue of that kind."""
    return issue.author.is_bot and _MARKERS[kind].begins(issue.body)


def keep_issue(github: RepoClient, store: OwnIssues, wanted: IssueDraft, now: float, *, reopen: bool = True) -> int:
    """Open or edit the issue; returns its number.

    A closed issue is reopened, or without `reopen` left alone; a deleted one is opened anew. Raises what GitHub raises,
    and Retryable while an earlier attempt may still succeed.
    """
    repo_id, repo = wanted.repo_id, wanted.repo
    kept = store.get(repo_id)
    if kept is not None and kept.number is not None:
        try:
            return _edit(github, wanted, github.issue(repo, kept.number), reopen)
        except NotFound:
            store.drop(repo_id)
            kept = None
    # A time far ahead of this clock is from before the clock was set back.
    if kept is not None and abs(now - kept.updated_at) < LEASE:
        raise Retryable(f"another attempt is opening the issue of the {store.kind} in {repo}", after=LEASE)
    own = [issue for issue in github.issues_of(repo, wanted.login) if is_kind(issue, store.kind)]
    if own:
        number = _edit(github, wanted, own[0], reopen)
        for late in own[1:]:
            if late.state == "open":
                github.close(repo, late.number, "not_planned")
        store.set(repo_id, number, now)
        return number
    store.set(repo_id, None, now)
    try:
        number = github.create_issue(repo, wanted.title, wanted.body("")).number
    except (GitHubError, RateLimited):
        store.drop(repo_id)
        raise
    except Unavailable as unanswered:
        raise Retryable(str(unanswered), after=max(LEASE, unanswered.after or 0)) from unanswered
    noted = store.opened(repo_id, number, now)
    if noted != number:
        try:
            github.close(repo, number, "not_planned")
        except (GitHubError, Retryable):
            # The next attempt finds both by their markers and closes this one.
            store.set(repo_id, None, now)
            raise
    return noted


def _edit(github: RepoClient, wanted: IssueDraft, issue: Issue, reopen: bool) -> int:
    if issue.state == "closed" and not reopen:
        return issue.number
    body = wanted.body(issue.body)
    if fingerprint(issue.body) != fingerprint(body):
        github.edit_issue(wanted.repo, issue.number, body)
    if issue.state == "closed":
        github.reopen(wanted.repo, issue.number)
    return issue.number
