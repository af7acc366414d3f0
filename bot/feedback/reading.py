"""What people decided, from what is stored of a repository."""

from __future__ import annotations

from bot.feedback.decided import DECIDING, Decided, decided
from bot.feedback.examples import examples
from bot.store import Store


def decided_in(store: Store, repo_id: int) -> Decided:
    """What people decided about all pairs of a repository's issues, by commands, votes and closings."""
    signals = store.signals.deciding(repo_id, DECIDING)
    verdicts = store.verdicts.since(repo_id, 0.0)
    # Of which pairs a reaction speaks is told by the comment that it was given to; all else names its pair.
    decisions = store.decisions.of_issues(repo_id, {one.number for one in signals if not one.other})
    return decided(examples(decisions, signals, verdicts), store.verdicts.originals(repo_id))
