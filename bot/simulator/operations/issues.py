"""Opening, editing, closing, merging, reopening and locking issues."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.simulator.errors import gone
from bot.simulator.operations.accounts import acting, who
from bot.simulator.operations.history import record, touch
from bot.simulator.operations.labels import check_label_names, label_named
from bot.simulator.operations.texts import act_on_text, check_text
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import BODY_MAX, TITLE_MAX, Issue, StateReason
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked


@locked
def open_issue(
    world: World,
    repository: str | Repository,
    author: str | Account,
    title: str,
    body: str | None = None,
    labels: Sequence[str] = (),
    *,
    created_at: datetime | None = None,
    is_pull_request: bool = False,
    parent: Issue | None = None,
    type: str | None = None,
) -> Issue:
    """Open an issue. With `parent`, the issue becomes a sub-issue, one of the parent's `parts`.

    410 if issues are off in the repository; 422 for an empty title or label, and for texts that are too long.
    """
    repo = world.repo(repository)
    if not repo.has_issues:
        raise gone("Issues are disabled for this repo")
    check_text("Issue", "title", title, TITLE_MAX)
    check_text("Issue", "body", body or "", BODY_MAX)
    check_label_names(labels)
    issue = store_issue(world, repo, who(world, author), title, body, created_at, is_pull_request=is_pull_request)
    issue.type = type
    if parent is not None:
        issue.parent = parent
        parent.parts.append(issue)
    issue.labels = list(dict.fromkeys(label_named(world, repo, name) for name in labels))
    for label in issue.labels:
        record(world, issue, "labeled", issue.author, label=label)
    act_on_text(world, issue, issue.author, body, is_new_comment=False)
    _emit(world, issue, "opened", issue.author)
    for label in issue.labels:
        _emit(world, issue, "labeled", issue.author, label=label)
    return issue


def store_issue(
    world: World,
    repository: Repository,
    author: Account,
    title: str,
    body: str | None,
    created_at: datetime | None,
    *,
    is_pull_request: bool = False,
) -> Issue:
    """Store a new issue under the next number, without checks and events."""
    when = created_at or world.now()
    repository.last_number += 1
    repository.open_issues += 1
    key = world.ids.next("issue")
    node = node_id("PR" if is_pull_request else "I", repository.id, key)
    issue = Issue(key, node, repository, repository.last_number, author, title, body or None, when, when)
    issue.is_pull_request = is_pull_request
    world.issues[repository.id][issue.number] = issue
    world.issues_by_id[key] = issue
    world.nodes[node] = issue
    world.unindexed.add(key)
    return issue


@locked
def edit_issue(
    world: World,
    repository: str | Repository,
    number: int,
    *,
    title: str | None = None,
    body: str | None = None,
    actor: str | Account | None = None,
) -> Issue:
    """Change title or body (an empty text removes the body). Only real changes send an event."""
    issue = world.issue(repository, number)
    sender = who(world, actor) if actor else issue.author
    changes: dict[str, Any] = {}
    if title is not None and title != issue.title:
        check_text("Issue", "title", title, TITLE_MAX)
        changes["title"] = {"from": issue.title}
    if body is not None and (body or None) != issue.body:
        check_text("Issue", "body", body, BODY_MAX)
        changes["body"] = {"from": issue.body or ""}
    if not changes:
        return issue
    if "title" in changes and title is not None:
        record(world, issue, "renamed", sender, before=issue.title, after=title)
        issue.title = title
    if "body" in changes:
        issue.body = body or None
        act_on_text(world, issue, sender, body, is_new_comment=False)
    touch(world, issue)
    _emit(world, issue, "edited", sender, changes=changes)
    return issue


@locked
def close_issue(
    world: World,
    repository: str | Repository,
    number: int,
    actor: str | Account | None = None,
    reason: StateReason | None = "completed",
    duplicate_of: Issue | None = None,
    closer: Issue | str | None = None,
) -> Issue:
    """Close an issue. With reason `duplicate`, `duplicate_of` is the original.

    `closer` is what closed the issue, if not a person: a merged pull request, or the hash of a pushed commit. A closed
    issue can be closed again with another reason or original: GitHub then shows a second "closed" event.
    """
    issue = world.issue(repository, number)
    sender = who(world, actor) if actor else issue.author
    if issue.state == "closed" and issue.state_reason == reason and duplicate_of in (None, issue.duplicate_of):
        return issue
    if issue.state == "open":
        issue.repository.open_issues -= 1
    if issue.state_reason == "duplicate" and reason != "duplicate":
        _unmark(world, issue, sender)
    issue.state, issue.state_reason = "closed", reason
    issue.closed_at, issue.closed_by = world.now(), sender
    if duplicate_of is not None:
        issue.duplicate_of = duplicate_of
        record(world, issue, "marked_as_duplicate", sender, canonical=duplicate_of)
    record(world, issue, "closed", sender, state_reason=reason, closer=closer)
    touch(world, issue)
    _emit(world, issue, "closed", sender)
    return issue


@locked
def merge_pull_request(world: World, repository: str | Repository, number: int) -> Issue:
    """Merge and close a pull request."""
    pull = close_issue(world, repository, number, reason=None)
    pull.merged_at = pull.closed_at
    touch(world, pull)
    return pull


@locked
def reopen_issue(world: World, repository: str | Repository, number: int, actor: str | Account | None = None) -> Issue:
    """Reopen a closed issue, which is then no longer a duplicate."""
    issue = world.issue(repository, number)
    if issue.state == "open":
        return issue
    sender = who(world, actor) if actor else issue.author
    _unmark(world, issue, sender)
    issue.state, issue.state_reason = "open", "reopened"
    issue.closed_at = issue.closed_by = None
    issue.repository.open_issues += 1
    record(world, issue, "reopened", sender, state_reason="reopened")
    touch(world, issue)
    _emit(world, issue, "reopened", sender)
    return issue


@locked
def lock_issue(
    world: World,
    repository: str | Repository,
    number: int,
    actor: str | Account | None = None,
    reason: str | None = None,
) -> Issue:
    """Lock the conversation: only people who can write to the repository may still comment."""
    issue = world.issue(repository, number)
    sender = acting(world, actor, issue.repository)
    if not issue.locked:
        issue.locked, issue.lock_reason = True, reason
        record(world, issue, "locked", sender, lock_reason=reason)
        touch(world, issue)
        _emit(world, issue, "locked", sender)
    return issue


@locked
def unlock_issue(world: World, repository: str | Repository, number: int, actor: str | Account | None = None) -> Issue:
    """Unlock the conversation."""
    issue = world.issue(repository, number)
    sender = acting(world, actor, issue.repository)
    if issue.locked:
        issue.locked, issue.lock_reason = False, None
        record(world, issue, "unlocked", sender, lock_reason=None)
        touch(world, issue)
        _emit(world, issue, "unlocked", sender)
    return issue


def _unmark(world: World, issue: Issue, sender: Account) -> None:
    """Remove the mark as a duplicate, if any, and record this."""
    if issue.duplicate_of is not None:
        record(world, issue, "unmarked_as_duplicate", sender, canonical=issue.duplicate_of)
        issue.duplicate_of = None


def _emit(world: World, issue: Issue, action: str, sender: Account, **details: Any) -> None:
    world.emit("issues", action, sender, repository=issue.repository, issue=issue, **details)
