"""Suggested labels and closings, and a maintainer's decision on them."""

from __future__ import annotations

from bot.simulator.errors import invalid
from bot.simulator.operations.accounts import who
from bot.simulator.operations.issues import close_issue
from bot.simulator.operations.labels import label_named, set_labels
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Issue, Suggestion
from bot.simulator.state.repositories import Label
from bot.simulator.state.world import World, locked


@locked
def suggest_label(
    world: World,
    issue: Issue,
    name: str,
    actor: str | Account,
    rationale: str | None = None,
    confidence: str | None = None,
) -> Suggestion | None:
    """Suggest a label; None if the issue already has it. A new suggestion replaces a pending one of the same label."""
    label = label_named(world, issue.repository, name)
    if label in issue.labels:
        return None
    return _store(world, issue, label, None, actor, rationale, confidence)


@locked
def suggest_closing(
    world: World,
    issue: Issue,
    original: Issue,
    actor: str | Account,
    rationale: str | None = None,
    confidence: str | None = None,
) -> Suggestion:
    """Suggest closing the issue as a duplicate of the original. Replaces a pending suggestion to close."""
    return _store(world, issue, None, original, actor, rationale, confidence)


def _store(
    world: World,
    issue: Issue,
    label: Label | None,
    original: Issue | None,
    actor: str | Account,
    rationale: str | None,
    confidence: str | None,
) -> Suggestion:
    now = world.now()
    for old in issue.suggestions:
        # All suggestions to close have the label None, so a new one replaces a pending one.
        if old.label is label and old.state == "pending":
            old.state, old.updated_at = "replaced", now
    suggestion = Suggestion(world.ids.next("suggestion"), label, who(world, actor), rationale, confidence, now, now)
    suggestion.original = original
    issue.suggestions.append(suggestion)
    return suggestion


@locked
def resolve_suggestion(world: World, issue: Issue, key: int, approve: bool, actor: str | Account) -> Suggestion:
    """Approve or dismiss a pending suggestion, as a maintainer. Approving adds the label or closes the issue."""
    suggestion = next(entry for entry in issue.suggestions if entry.id == key)
    if suggestion.state != "pending":
        raise invalid("Suggestion", "state", "invalid", "The suggestion is no longer pending.")
    suggestion.state, suggestion.updated_at = "approved" if approve else "dismissed", world.now()
    suggestion.resolved_by = who(world, actor)
    if approve and suggestion.label is None:
        close_issue(world, issue.repository, issue.number, actor, "duplicate", suggestion.original)
    elif approve and suggestion.label is not None:
        set_labels(world, issue, [*(label.name for label in issue.labels), suggestion.label.name], actor)
    return suggestion
