"""Emoji on issues and comments. GitHub sends no event for them, but its search counts them."""

from __future__ import annotations

from bot.simulator.errors import invalid
from bot.simulator.operations.accounts import who
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import REACTIONS, Comment, Issue, Reaction
from bot.simulator.state.world import World, locked


@locked
def react(world: World, subject: Issue | Comment, login: str | Account, content: str) -> tuple[Reaction, bool]:
    """Add an emoji; the second value is False if the account had already added it."""
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "invalid", value=content)
    account = who(world, login)
    for existing in subject.reactions:
        if existing.user is account and existing.content == content:
            return existing, False
    key = world.ids.next("reaction")
    created = Reaction(key, node_id("REA", subject.id, key), account, content, world.now())
    subject.reactions.append(created)
    world.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
    return created, True


@locked
def unreact(world: World, subject: Issue | Comment, key: int) -> None:
    """Remove the reaction with the id `key`; KeyError if there is none."""
    for reaction in subject.reactions:
        if reaction.id == key:
            subject.reactions.remove(reaction)
            world.unindexed.add(subject.id if isinstance(subject, Issue) else subject.issue.id)
            return
    raise KeyError(key)
