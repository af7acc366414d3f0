"""Seeding a repository with thousands of issues from a file, without events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.simulator.operations.accounts import administrator, who
from bot.simulator.operations.history import record
from bot.simulator.operations.issues import store_issue
from bot.simulator.operations.labels import label_named
from bot.simulator.operations.reactions import react
from bot.simulator.operations.repositories import add_repository
from bot.simulator.operations.rows import CommentRow, IssueRow, read_rows, rows_of
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked


def load_issues(
    world: World, source: str | Path | Iterable[dict[str, Any]], repository: str | Repository = "acme/app"
) -> int:
    """Load the issues of a JSON Lines file, or of parsed lines, into a repository. Return the number of issues.

    A missing repository is created. A line has `id` and `created_at`. The line may have `title`, `body`, `closed_at`,
    `author`, `closed_by`, `duplicate_of` (another line's id), `labels`, `state_reason`, `reactions` (counts, such as
    `{"heart": 2}`) and `comments`. A comment has `created_at`, and may have `body` and `author`. Issues get the next
    numbers in the order of `created_at`. An issue with `closed_at` is closed. An issue with `closed_at` and
    `duplicate_of` is closed as a duplicate. If the file has the original, the issue is also marked as a duplicate.

    Texts are cut to GitHub's limits. No event of an issue is emitted, and mentions or "Duplicate of" in a text have no
    effect. If a line is wrong, raises ValueError naming the line, and the repository stays unchanged.
    """
    if isinstance(source, str | Path):
        return load_rows(world, read_rows(Path(source)), repository)
    return load_rows(world, rows_of((row, f"issue {count}") for count, row in enumerate(source, 1)), repository)


@locked
def load_rows(world: World, rows: Sequence[IssueRow], repository: str | Repository) -> int:
    """Like `load_issues`, with rows that are read, checked, and sorted by `created_at`."""
    if isinstance(repository, str) and repository.lower() not in world.names:
        add_repository(world, repository)
    repo = world.repo(repository)
    loaded = [(row, _load(world, repo, row)) for row in rows]
    # An id can occur twice, as in concatenated files. In reverse order, the earliest issue overwrites later ones.
    issue_by_id = {row.id: issue for row, issue in reversed(loaded)}
    for row, issue in loaded:
        original = issue_by_id.get(row.duplicate_of or "")
        if original is issue:  # The line names itself.
            original = None
        if issue.state == "closed" and row.duplicate_of is not None:
            issue.state_reason, issue.duplicate_of = "duplicate", original
            if original is not None:
                mark = record(world, issue, "marked_as_duplicate", administrator(world, repo.owner), canonical=original)
                mark.created_at = issue.closed_at or mark.created_at
        issue.updated_at = max([issue.updated_at, *(comment.created_at for comment in issue.comments)])
    return len(rows)


def _load(world: World, repo: Repository, row: IssueRow) -> Issue:
    issue = store_issue(world, repo, _account(world, row.author), row.title, row.body, row.created_at)
    issue.labels = list(dict.fromkeys(label_named(world, repo, name) for name in row.labels))
    issue.state_reason = row.state_reason
    if row.closed_at:
        issue.state = "closed"
        issue.closed_at = issue.updated_at = row.closed_at
        if row.closed_by:
            issue.closed_by = _account(world, row.closed_by)
            closed = record(world, issue, "closed", issue.closed_by, state_reason=issue.state_reason)
            closed.created_at = issue.closed_at
        repo.open_issues -= 1
    for content, count in row.reactions.items():
        # The file gives only the number of reactions, not the people.
        for serial in range(count):
            react(world, issue, f"reader-{serial + 1}", content)
    for comment in row.comments:
        _load_comment(world, issue, comment)
    return issue


def _load_comment(world: World, issue: Issue, row: CommentRow) -> None:
    author, when, key = _account(world, row.author), row.created_at, world.ids.next("comment")
    node = node_id("IC", issue.repository.id, key)
    created = Comment(key, node, issue, author, row.body, when, when)
    issue.comments.append(created)
    world.comments_by_id[key] = created
    world.nodes[node] = created
    record(world, issue, "commented", author, comment=created).created_at = when


def _account(world: World, login: str) -> Account:
    return who(world, login, "Bot" if login.endswith("[bot]") else "User")
