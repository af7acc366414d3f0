"""Issues that leave a repository: deleted, or transferred to another one."""

from __future__ import annotations

from bot.simulator.errors import ApiError
from bot.simulator.operations.accounts import acting
from bot.simulator.operations.issues import store_issue
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Issue, Tombstone
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked


@locked
def delete_issue(world: World, repository: str | Repository, number: int, actor: str | Account | None = None) -> None:
    """Delete an issue; reading it answers 410 from then on."""
    issue = world.issue(repository, number)
    sender = acting(world, actor, issue.repository)
    world.emit("issues", "deleted", sender, repository=issue.repository, issue=issue)
    world.issues[issue.repository.id][number] = Tombstone()
    issue.repository.open_issues -= 1 if issue.state == "open" else 0
    forget(world, issue)


@locked
def transfer_issue(
    world: World,
    repository: str | Repository,
    number: int,
    destination: str | Repository,
    actor: str | Account | None = None,
) -> Issue:
    """Move an issue to another repository of the same owner under a new number; the old address redirects."""
    issue, target = world.issue(repository, number), world.repo(destination)
    if target.owner is not issue.repository.owner:
        raise ApiError(422, "An issue can only be transferred between repositories of one owner.")
    sender = acting(world, actor, issue.repository)
    copy = store_issue(world, target, issue.author, issue.title, issue.body, issue.created_at)
    copy.updated_at, copy.reactions, copy.comments = world.now(), issue.reactions, issue.comments
    copy.events, copy.parent, copy.parts = issue.events, issue.parent, issue.parts
    copy.state, copy.state_reason = issue.state, issue.state_reason
    copy.closed_at, copy.closed_by = issue.closed_at, issue.closed_by
    # `store_issue` has counted the copy as open.
    target.open_issues -= 1 if copy.state == "closed" else 0
    changes = {"new_issue": copy, "new_repository": target}
    world.emit("issues", "transferred", sender, repository=issue.repository, issue=issue, changes=changes)
    world.issues[issue.repository.id][number] = Tombstone(copy)
    issue.repository.open_issues -= 1 if issue.state == "open" else 0
    # The comments now belong to the copy, so `forget` must not drop them.
    issue.comments = []
    for comment in copy.comments:
        comment.issue = copy
    forget(world, issue)
    origin = {"old_issue": issue, "old_repository": issue.repository}
    world.emit("issues", "opened", sender, repository=target, issue=copy, changes=origin)
    return copy


def forget(world: World, issue: Issue) -> None:
    """Drop an issue and its comments from the look-ups by id. `flush_index` will drop the issue from searches."""
    world.issues_by_id.pop(issue.id, None)
    world.nodes.pop(issue.node_id, None)
    world.unindexed.add(issue.id)
    for comment in issue.comments:
        world.comments_by_id.pop(comment.id, None)
        world.nodes.pop(comment.node_id, None)
