"""Emoji on issues and comments. GitHub sends no event for them."""

from __future__ import annotations

from bot.simulator.errors import invalid
from bot.simulator.operations.accounts import who
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import REACTIONS, Comment, Issue, Reaction
from bot.simulator.state.world import World, locked


@locked
def react(world: World, subject: Issue | Comment, login: str | Account, content: str) -> tuple[Reaction, bool]:
    """Add an emoji; the second value is False if the account had already added it. GitHub sends no event."""
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "invalid", value=content)
    account = who(world, login)
    for found in subject.reactions:
        if found.user is account and found.content == content:
            return found, False
    key = world.ids.next("reaction")
    made = Reaction(key, node_id("REA", subject.id, key), account, content, world.now())
    subject.reactions.append(made)
    world.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
    return made, True


@locked
def unreact(world: World, subject: Issue | Comment, key: int) -> None:
    """Remove a reaction; KeyError if there is none with this id."""
    for found in subject.reactions:
        if found.id == key:
            subject.reactions.remove(found)
            world.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
            return
    raise KeyError(key)
