"""Opening, editing, closing, moving, locking and deleting issues."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.simulator.errors import ApiError, gone, invalid
from bot.simulator.operations.base import locked
from bot.simulator.operations.labels import LabelOperations
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import BODY_MAX, TITLE_MAX, Issue, StateReason, Tombstone
from bot.simulator.state.repositories import Repository


def check_text(resource: str, field: str, text: str, limit: int) -> None:
    """Refuse what GitHub finds too long, or a title of nothing."""
    if field == "title" and not text.strip():
        raise invalid(resource, field, "missing_field")
    if len(text) > limit:
        raise invalid(resource, field, "custom", f"{field} is too long (maximum is {limit} characters)")


class IssueOperations(LabelOperations):
    """Issues."""

    @locked
    def open_issue(
        self,
        repository: str | Repository,
        author: str | Account,
        title: str,
        body: str | None = None,
        labels: Sequence[str] = (),
        *,
        created_at: datetime | None = None,
        is_pull_request: bool = False,
    ) -> Issue:
        """Open an issue as `author`. 410 where the repository has no issues, 422 for texts that are too long."""
        repo = self.repo(repository)
        if not repo.has_issues:
            raise gone("Issues are disabled for this repo")
        check_text("Issue", "title", title, TITLE_MAX)
        check_text("Issue", "body", body or "", BODY_MAX)
        self.check_label_names(labels)
        issue = self.store_issue(repo, self.who(author), title, body, created_at, is_pull_request=is_pull_request)
        issue.labels = list(dict.fromkeys(self.label_named(repo, name) for name in labels))
        for label in issue.labels:
            self.record(issue, "labeled", issue.author, label=label)
        self.act_on_text(issue, issue.author, body, is_comment=False)
        self._tell(issue, "opened", issue.author)
        for label in issue.labels:
            self._tell(issue, "labeled", issue.author, label=label)
        return issue

    def store_issue(
        self,
        repository: Repository,
        author: Account,
        title: str,
        body: str | None,
        created_at: datetime | None,
        *,
        is_pull_request: bool = False,
    ) -> Issue:
        """Enter a new issue under the next number, with no checks and no events."""
        when = created_at or self.now()
        repository.last_number += 1
        repository.open_issues += 1
        key = self.ids.next("issue")
        node = node_id("PR" if is_pull_request else "I", repository.id, key)
        issue = Issue(key, node, repository, repository.last_number, author, title, body or None, when, when)
        issue.is_pull_request = is_pull_request
        self.issues[repository.id][issue.number] = issue
        self.issues_by_id[key] = issue
        self.nodes[node] = issue
        self.unindexed.add(key)
        return issue

    @locked
    def edit_issue(
        self,
        repository: str | Repository,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        actor: str | Account | None = None,
    ) -> Issue:
        """Change title or body (an empty body removes it); what stays the same is no event."""
        issue = self.issue(repository, number)
        sender = self.who(actor) if actor else issue.author
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
            self.record(issue, "renamed", sender, before=issue.title, after=title)
            issue.title = title
        if "body" in changes:
            issue.body = body or None
            self.act_on_text(issue, sender, body, is_comment=False)
        self.touch(issue)
        self._tell(issue, "edited", sender, changes=changes)
        return issue

    @locked
    def close_issue(
        self,
        repository: str | Repository,
        number: int,
        actor: str | Account | None = None,
        reason: StateReason | None = "completed",
        duplicate_of: Issue | None = None,
    ) -> Issue:
        """Close an issue; with reason `duplicate`, `duplicate_of` is its original.

        A closed one can be given another reason, which GitHub shows as a second "closed".
        """
        issue = self.issue(repository, number)
        sender = self.who(actor) if actor else issue.author
        if issue.state == "closed" and issue.state_reason == reason and duplicate_of in (None, issue.duplicate_of):
            return issue
        if issue.state == "open":
            issue.repository.open_issues -= 1
        if issue.state_reason == "duplicate" and reason != "duplicate":
            self._unmark(issue, sender)
        issue.state, issue.state_reason = "closed", reason
        issue.closed_at, issue.closed_by = self.now(), sender
        if duplicate_of is not None:
            issue.duplicate_of = duplicate_of
            self.record(issue, "marked_as_duplicate", sender, canonical=duplicate_of)
        self.record(issue, "closed", sender, state_reason=reason)
        self.touch(issue)
        self._tell(issue, "closed", sender)
        return issue

    @locked
    def merge_pull_request(
        self, repository: str | Repository, number: int, actor: str | Account | None = None
    ) -> Issue:
        """Merge a pull request, which closes it."""
        pull = self.close_issue(repository, number, actor, None)
        pull.merged_at = pull.closed_at
        self.touch(pull)
        return pull

    @locked
    def reopen_issue(self, repository: str | Repository, number: int, actor: str | Account | None = None) -> Issue:
        """Open a closed issue again; it is nobody's duplicate then."""
        issue = self.issue(repository, number)
        if issue.state == "open":
            return issue
        sender = self.who(actor) if actor else issue.author
        self._unmark(issue, sender)
        issue.state, issue.state_reason = "open", "reopened"
        issue.closed_at = issue.closed_by = None
        issue.repository.open_issues += 1
        self.record(issue, "reopened", sender, state_reason="reopened")
        self.touch(issue)
        self._tell(issue, "reopened", sender)
        return issue

    @locked
    def lock_issue(
        self, repository: str | Repository, number: int, actor: str | Account | None = None, reason: str | None = None
    ) -> Issue:
        """Close the conversation to all who cannot write to the repository."""
        issue = self.issue(repository, number)
        sender = self._actor(issue.repository, actor)
        if not issue.locked:
            issue.locked, issue.lock_reason = True, reason
            self.record(issue, "locked", sender, lock_reason=reason)
            self.touch(issue)
            self._tell(issue, "locked", sender)
        return issue

    @locked
    def unlock_issue(self, repository: str | Repository, number: int, actor: str | Account | None = None) -> Issue:
        """Open the conversation again."""
        issue = self.issue(repository, number)
        sender = self._actor(issue.repository, actor)
        if issue.locked:
            issue.locked, issue.lock_reason = False, None
            self.record(issue, "unlocked", sender, lock_reason=None)
            self.touch(issue)
            self._tell(issue, "unlocked", sender)
        return issue

    @locked
    def delete_issue(self, repository: str | Repository, number: int, actor: str | Account | None = None) -> None:
        """Delete an issue; reading it answers 410 from then on."""
        issue = self.issue(repository, number)
        self._tell(issue, "deleted", self._actor(issue.repository, actor))
        self.issues[issue.repository.id][number] = Tombstone()
        self._leave(issue)
        self.forget(issue)

    @locked
    def transfer_issue(
        self,
        repository: str | Repository,
        number: int,
        destination: str | Repository,
        actor: str | Account | None = None,
    ) -> Issue:
        """Move an issue to another repository of the same owner, where it gets a new number; the old one redirects."""
        issue, target = self.issue(repository, number), self.repo(destination)
        if target.owner is not issue.repository.owner:
            raise ApiError(422, "An issue can only be transferred between repositories of one owner.")
        sender = self._actor(issue.repository, actor)
        made = self.store_issue(target, issue.author, issue.title, issue.body, issue.created_at)
        made.updated_at, made.reactions, made.comments = self.now(), issue.reactions, issue.comments
        made.events = issue.events
        made.state, made.state_reason = issue.state, issue.state_reason
        made.closed_at, made.closed_by = issue.closed_at, issue.closed_by
        target.open_issues -= made.state == "closed"
        changes = {"new_issue": made, "new_repository": target}
        self._tell(issue, "transferred", sender, changes=changes)
        self.issues[issue.repository.id][number] = Tombstone(made)
        self._leave(issue)
        issue.comments = []
        for comment in made.comments:
            comment.issue = made
        self.forget(issue)
        origin = {"old_issue": issue, "old_repository": issue.repository}
        self.emit("issues", "opened", sender, repository=target, issue=made, changes=origin)
        return made

    def _unmark(self, issue: Issue, sender: Account) -> None:
        """The issue is nobody's duplicate any more."""
        if issue.duplicate_of is not None:
            self.record(issue, "unmarked_as_duplicate", sender, canonical=issue.duplicate_of)
            issue.duplicate_of = None

    def _leave(self, issue: Issue) -> None:
        issue.repository.open_issues -= issue.state == "open"

    def _tell(self, issue: Issue, action: str, sender: Account, **parts: Any) -> None:
        self.emit("issues", action, sender, repository=issue.repository, issue=issue, **parts)
