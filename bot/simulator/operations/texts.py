"""Checks texts, and carries out their side effects: mentions, back-links and "Duplicate of #1"."""

from __future__ import annotations

from bot.simulator import references
from bot.simulator.errors import invalid
from bot.simulator.operations.accounts import role_of
from bot.simulator.operations.history import record
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import at_least
from bot.simulator.state.world import World


def check_text(resource: str, field: str, text: str, limit: int) -> None:
    """Refuse a text that is too long for GitHub, or an empty title."""
    if field == "title" and not text.strip():
        raise invalid(resource, field, "missing_field")
    if len(text) > limit:
        raise invalid(resource, field, "custom", f"{field} is too long (maximum is {limit} characters)")


def act_on_text(world: World, issue: Issue, actor: Account, text: str | None, *, is_new_comment: bool) -> None:
    """Record mentions and back-links. People with write access can mark duplicates in comments."""
    parsed = references.parse(text or "", world.urls.html)
    for login in parsed.mentions:
        account = world.account(login)
        if account is not None:
            record(world, issue, "mentioned", account)
            record(world, issue, "subscribed", account)
    for name, number in parsed.issues:
        target = _visible(world, issue, actor, name, number)
        if target is not None and target is not issue and not _already_linked(target, issue):
            record(world, target, "cross-referenced", actor, source=issue)
    if is_new_comment and parsed.duplicate_of and at_least(role_of(world, issue.repository, actor), "write"):
        original = _visible(world, issue, actor, *parsed.duplicate_of)
        if original is not None and original is not issue:
            issue.duplicate_of = original
            record(world, issue, "marked_as_duplicate", actor, canonical=original)


def _visible(world: World, issue: Issue, actor: Account, name: str | None, number: int) -> Issue | None:
    """The issue that a text in `issue` refers to; None if there is none, or `actor` must not see it."""
    try:
        repository = world.repository(name) if name else issue.repository
        target = world.issue(repository, number)
    except KeyError:
        return None
    return target if role_of(world, repository, actor) != "none" else None


def _already_linked(target: Issue, source: Issue) -> bool:
    return any(e.event == "cross-referenced" and e.data["source"] is source for e in target.events)
