"""Comments on issues."""

from __future__ import annotations

from datetime import datetime

from bot.simulator.errors import ApiError, invalid
from bot.simulator.operations.accounts import role_of, who
from bot.simulator.operations.history import record, touch
from bot.simulator.operations.texts import act_on_text, check_text
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import BODY_MAX, Comment
from bot.simulator.state.repositories import Repository, at_least
from bot.simulator.state.world import World, locked


@locked
def comment(
    world: World,
    repository: str | Repository,
    number: int,
    login: str | Account,
    body: str,
    *,
    created_at: datetime | None = None,
) -> Comment:
    """Comment on an issue. 422 for an empty or too long text; on a locked issue, 403 for Apps and roles below write."""
    issue, author = world.issue(repository, number), who(world, login)
    if not body.strip():
        raise invalid("IssueComment", "data", "unprocessable", "Body can't be blank")
    check_text("IssueComment", "body", body, BODY_MAX)
    if issue.locked and (author.app_id or not at_least(role_of(world, issue.repository, author), "write")):
        raise ApiError(403, "Unable to create comment because issue is locked.")
    key, when = world.ids.next("comment"), created_at or world.now()
    created = Comment(key, node_id("IC", issue.repository.id, key), issue, author, body, when, when)
    issue.comments.append(created)
    world.comments_by_id[key] = created
    world.nodes[created.node_id] = created
    entry = record(world, issue, "commented", author, comment=created)
    entry.created_at = when
    act_on_text(world, issue, author, body, is_new_comment=True)
    touch(world, issue)
    world.emit("issue_comment", "created", author, repository=issue.repository, issue=issue, comment=created)
    return created


@locked
def edit_comment(world: World, comment: int | Comment, body: str, actor: str | Account | None = None) -> Comment:
    """Change a comment's text if it differs. Only a new comment with "Duplicate of #1" can mark a duplicate."""
    edited = _comment(world, comment)
    check_text("IssueComment", "body", body, BODY_MAX)
    if body == edited.body:
        return edited
    sender = who(world, actor) if actor else edited.author
    before, edited.body = edited.body, body
    edited.updated_at = world.now()
    act_on_text(world, edited.issue, sender, body, is_new_comment=False)
    touch(world, edited.issue)
    world.emit(
        "issue_comment",
        "edited",
        sender,
        repository=edited.issue.repository,
        issue=edited.issue,
        comment=edited,
        changes={"body": {"from": before}},
    )
    return edited


@locked
def delete_comment(world: World, comment: int | Comment, actor: str | Account | None = None) -> None:
    """Delete a comment, and its entry in the issue's history."""
    deleted = _comment(world, comment)
    issue = deleted.issue
    sender = who(world, actor) if actor else deleted.author
    issue.comments.remove(deleted)
    issue.events = [entry for entry in issue.events if entry.data.get("comment") is not deleted]
    del world.comments_by_id[deleted.id]
    del world.nodes[deleted.node_id]
    touch(world, issue)
    world.emit("issue_comment", "deleted", sender, repository=issue.repository, issue=issue, comment=deleted)


def _comment(world: World, comment: int | Comment) -> Comment:
    return comment if isinstance(comment, Comment) else world.comments_by_id[comment]
