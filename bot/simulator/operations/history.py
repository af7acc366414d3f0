"""What becomes known of an issue by itself: each event in its history, and that it changed."""

from __future__ import annotations

from typing import Any

from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Issue, TimelineEvent
from bot.simulator.state.world import World


def record(world: World, issue: Issue, event: str, actor: Account, **data: Any) -> TimelineEvent:
    """Append to the issue's history."""
    key = world.ids.next("event")
    entry = TimelineEvent(key, node_id("EV", issue.id, key), event, actor, world.now(), data)
    issue.events.append(entry)
    return entry


def touch(world: World, issue: Issue) -> None:
    """The issue changed: its time, and its place in the search index."""
    issue.updated_at = max(world.now(), issue.updated_at)
    world.unindexed.add(issue.id)
