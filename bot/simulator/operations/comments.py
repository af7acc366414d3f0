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
    """Comment on an issue. 403 if it is locked and the author cannot write, 422 for an empty or too long text."""
    issue, author = world.issue(repository, number), who(world, login)
    if not body.strip():
        raise invalid("IssueComment", "data", "unprocessable", "Body can't be blank")
    check_text("IssueComment", "body", body, BODY_MAX)
    # Apps may not comment in a locked conversation either, whatever their permissions.
    if issue.locked and (author.app_id or not at_least(role_of(world, issue.repository, author), "write")):
        raise ApiError(403, "Unable to create comment because issue is locked.")
    key, when = world.ids.next("comment"), created_at or world.now()
    made = Comment(key, node_id("IC", issue.repository.id, key), issue, author, body, when, when)
    issue.comments.append(made)
    world.comments_by_id[key] = made
    world.nodes[made.node_id] = made
    record(world, issue, "commented", author, comment=made).created_at = when
    act_on_text(world, issue, author, body, is_comment=True)
    touch(world, issue)
    world.emit("issue_comment", "created", author, repository=issue.repository, issue=issue, comment=made)
    return made


@locked
def edit_comment(world: World, comment: int | Comment, body: str, actor: str | Account | None = None) -> Comment:
    """Change a comment's text. If the text is the same, no event is sent."""
    found = _comment(world, comment)
    check_text("IssueComment", "body", body, BODY_MAX)
    if body == found.body:
        return found
    sender = who(world, actor) if actor else found.author
    before, found.body = found.body, body
    found.updated_at = world.now()
    act_on_text(world, found.issue, sender, body, is_comment=False)
    touch(world, found.issue)
    world.emit(
        "issue_comment",
        "edited",
        sender,
        repository=found.issue.repository,
        issue=found.issue,
        comment=found,
        changes={"body": {"from": before}},
    )
    return found


@locked
def delete_comment(world: World, comment: int | Comment, actor: str | Account | None = None) -> None:
    """Delete a comment."""
    found = _comment(world, comment)
    sender = who(world, actor) if actor else found.author
    found.issue.comments.remove(found)
    found.issue.events = [entry for entry in found.issue.events if entry.data.get("comment") is not found]
    del world.comments_by_id[found.id]
    del world.nodes[found.node_id]
    touch(world, found.issue)
    world.emit("issue_comment", "deleted", sender, repository=found.issue.repository, issue=found.issue, comment=found)


def _comment(world: World, comment: int | Comment) -> Comment:
    return comment if isinstance(comment, Comment) else world.comments_by_id[comment]
