"""The bot's own issues, one of each kind in a repository: the backlog scan (D8) and the digest (C7).

The bot opens an issue once, and then edits it. The row in the store has the issue's number. Without a number, the
bot looks for the hidden marker, and accepts the marker only in an issue by a bot.
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
"""GitHub's limit in characters; titles from a repository's own templates can be longer."""


@dataclass(frozen=True, slots=True)
class IssueDraft:
    """The content of one of the bot's own issues. `login` is the bot's; only a new issue gets the `title`.

    `body` makes the new text from the present text, which is empty for a new issue.
    """

    repo_id: int
    repo: RepoRef
    login: str
    title: str
    body: Callable[[str], str]


def is_own_issue(issue: Issue, numbers: Collection[int] = ()) -> bool:
    """Whether this is one of the bot's own issues, by the store's `numbers` or by its marker."""
    return issue.number in numbers or any(is_kind(issue, kind) for kind in OwnIssueKind)


def is_kind(issue: Issue, kind: OwnIssueKind) -> bool:
    return issue.author.is_bot and _MARKERS[kind].begins(issue.body)


def write_issue(github: RepoClient, store: OwnIssues, draft: IssueDraft, now: float, *, reopen: bool = True) -> int:
    """Open or edit the issue; returns its number. `now` is in seconds since 1970.

    Reopens a closed issue; without `reopen`, a closed issue stays as it is. Opens a new issue in place of a deleted
    one. Raises GitHub's errors, and Retryable while an earlier attempt may still succeed.
    """
    repo_id, repo = draft.repo_id, draft.repo
    stored = store.get(repo_id)
    if stored is not None and stored.number is not None:
        try:
            return _edit(github, draft, github.issue(repo, stored.number), reopen)
        except NotFound:
            store.drop(repo_id)
            stored = None
    # A row without a number says that another attempt began at `updated_at`: give it LEASE seconds.
    # `abs`: do not wait if `updated_at` is far in the future, because then somebody has set the clock back.
    if stored is not None and abs(now - stored.updated_at) < LEASE:
        raise Retryable(f"another attempt is opening the issue of the {store.kind} in {repo}", after=LEASE)
    oldest_first = [issue for issue in github.issues_of(repo, draft.login) if is_kind(issue, store.kind)]
    if oldest_first:
        number = _edit(github, draft, oldest_first[0], reopen)
        for newer in oldest_first[1:]:
            if newer.state == "open":
                github.close(repo, newer.number, "not_planned")
        store.set(repo_id, number, now)
        return number
    store.set(repo_id, None, now)
    try:
        number = github.create_issue(repo, draft.title, draft.body("")).number
    except (GitHubError, RateLimited):
        store.drop(repo_id)
        raise
    except Unavailable as unanswered:  # The issue may exist by now, so the row stays.
        raise Retryable(str(unanswered), after=max(LEASE, unanswered.after or 0)) from unanswered
    store.set(repo_id, number, now)
    return number


def _edit(github: RepoClient, draft: IssueDraft, issue: Issue, reopen: bool) -> int:
    if issue.state == "closed" and not reopen:
        return issue.number
    body = draft.body(issue.body)
    if fingerprint(issue.body) != fingerprint(body):
        github.edit_issue(draft.repo, issue.number, body)
    if issue.state == "closed":
        github.reopen(draft.repo, issue.number)
    return issue.number
