"""Recording an issue's events and changes."""

from __future__ import annotations

from typing import Any

from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Issue, TimelineEvent
from bot.simulator.state.world import World


def record(world: World, issue: Issue, event: str, actor: Account, **data: Any) -> TimelineEvent:
    """Append an event to the issue's history, at the present moment."""
    key = world.ids.next("event")
    entry = TimelineEvent(key, node_id("EV", issue.id, key), event, actor, world.now(), data)
    issue.events.append(entry)
    return entry


def touch(world: World, issue: Issue) -> None:
    """Mark the issue as changed: update its time, and have it indexed again."""
    issue.updated_at = max(world.now(), issue.updated_at)
    world.unindexed.add(issue.id)
