"""Starting and closing discussions. This sends no events, because the bot handles no events of discussions."""

from __future__ import annotations

from bot.simulator.operations.accounts import who
from bot.simulator.state.accounts import Account
from bot.simulator.state.discussions import Discussion, DiscussionReason
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World, locked


@locked
def start_discussion(
    world: World,
    repository: str | Repository,
    author: str | Account,
    title: str,
    body: str = "",
    *,
    answered: bool = False,
) -> Discussion:
    """Start a discussion under the next number of the repository."""
    repo = world.repo(repository)
    repo.last_number += 1
    key, now = world.ids.next("discussion"), world.now()
    node = node_id("D", repo.id, key)
    discussion = Discussion(key, node, repo, repo.last_number, who(world, author), title, body, now, now)
    discussion.answered = answered
    world.discussions[key] = discussion
    world.nodes[node] = discussion
    return discussion


@locked
def close_discussion(world: World, discussion: Discussion, reason: DiscussionReason = "resolved") -> None:
    discussion.closed_at, discussion.state_reason = world.now(), reason
