"""Seeding a repository with thousands of issues from a file, without events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.simulator.operations.base import locked
from bot.simulator.operations.comments import CommentOperations
from bot.simulator.operations.discussions import DiscussionOperations
from bot.simulator.operations.projects import ProjectOperations
from bot.simulator.operations.rows import CommentRow, IssueRow, read_rows, rows_of
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Repository


class LoadingOperations(CommentOperations, ProjectOperations, DiscussionOperations):
    """Loading."""

    def load_issues(
        self, source: str | Path | Iterable[dict[str, Any]], repository: str | Repository = "acme/app"
    ) -> int:
        """Put the issues of a JSON Lines file into the repository (made if there is none) and return how many.

        A line has `id, title, body, created_at, closed_at` and maybe `author`, `closed_by`, `duplicate_of` (another
        line's id), `labels`, `state_reason`, `reactions` (GitHub's word for the emoji → how many) and `comments` (each
        with `body`, `created_at`, maybe `author`). Issues get the next numbers in the order of `created_at`; closed is
        what has a `closed_at`, with the reason `duplicate` where it has a `duplicate_of`, of which it was then marked a
        duplicate.
        Texts are cut to what GitHub takes. No event is emitted, and mentions or "Duplicate of" in a text do nothing.
        Raises ValueError naming the line that is wrong; nothing is put into the repository then.
        """
        if isinstance(source, str | Path):
            return self.load_rows(read_rows(Path(source)), repository)
        return self.load_rows(rows_of((row, f"issue {count}") for count, row in enumerate(source, 1)), repository)

    @locked
    def load_rows(self, rows: Sequence[IssueRow], repository: str | Repository) -> int:
        """The same with what has been read and checked already, in order of arrival."""
        if isinstance(repository, str) and repository.lower() not in self.names:
            self.add_repository(repository)
        repo = self.repo(repository)
        issues = [self._load(repo, row) for row in rows]
        # Where files were put together and an id is there twice, the earliest is meant.
        named = {row.id: issue for row, issue in reversed(list(zip(rows, issues, strict=True)))}
        for row, issue in zip(rows, issues, strict=True):
            original = named.get(row.duplicate_of or "")
            if original is issue:
                original = None
            if issue.state == "closed" and row.duplicate_of is not None:
                issue.state_reason, issue.duplicate_of = "duplicate", original
                if original is not None:
                    mark = self.record(issue, "marked_as_duplicate", self.administrator(repo.owner), canonical=original)
                    mark.created_at = issue.closed_at or mark.created_at
            issue.updated_at = max([issue.updated_at, *(comment.created_at for comment in issue.comments)])
        return len(rows)

    def _load(self, repo: Repository, row: IssueRow) -> Issue:
        issue = self.store_issue(repo, self._account(row.author), row.title, row.body, row.created_at)
        issue.labels = list(dict.fromkeys(self.label_named(repo, name) for name in row.labels))
        issue.state_reason = row.state_reason
        if row.closed_at:
            issue.state = "closed"
            issue.closed_at = issue.updated_at = row.closed_at
            if row.closed_by:
                issue.closed_by = self._account(row.closed_by)
                closed = self.record(issue, "closed", issue.closed_by, state_reason=issue.state_reason)
                closed.created_at = issue.closed_at
            repo.open_issues -= 1
        for content, count in row.reactions.items():
            # GitHub shows how many there are, and a file does not say whose.
            for serial in range(count):
                self.react(issue, f"reader-{serial + 1}", content)
        for comment in row.comments:
            self._load_comment(issue, comment)
        return issue

    def _load_comment(self, issue: Issue, row: CommentRow) -> None:
        author, when, key = self._account(row.author), row.created_at, self.ids.next("comment")
        node = node_id("IC", issue.repository.id, key)
        made = Comment(key, node, issue, author, row.body, when, when)
        issue.comments.append(made)
        self.comments_by_id[key] = made
        self.nodes[node] = made
        self.record(issue, "commented", author, comment=made).created_at = when

    def _account(self, login: str) -> Account:
        return self.who(login, "Bot" if login.endswith("[bot]") else "User")
