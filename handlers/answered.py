"""Decides whether an issue was already answered, so that the bot does not look at the same text twice."""

from __future__ import annotations

from collections.abc import Iterable

from bot.conversation.comments import hash_texts
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import Issue
from bot.storage import StoredComment
from handlers.context import LOCKED, IssueContext

# A day in seconds. The queue retries a delivery for less than a day.
_RETRIES_END = 86_400.0


def text_hash(issue: Issue, *, shadow: bool = False) -> str:
    """A hash of the issue's text, stored with the answer. Answers in `mode: shadow` have a different hash."""
    return hash_texts(issue.title, issue.body, *(["shadow"] if shadow else []))


def is_answered(context: IssueContext, stored: StoredComment) -> bool:
    """Whether the bot has finished a look at the issue's present text, and so has answered this text.

    Answers recorded in `mode: shadow` were not posted, so they do not count in another mode.
    """
    answers = {text_hash(context.issue)}
    if context.config.mode == "shadow":
        answers.add(text_hash(context.issue, shadow=True))
    return stored.text_hash in answers and has_ended(context, stored)


def has_ended(context: IssueContext, stored: StoredComment) -> bool:
    """Whether the look that wrote the comment has finished. A worker can be killed between two steps.

    The last step stores the decision. So the look has finished if a decision is newer than the row `stored`. If this
    row is older than a day, the look counts as finished, because no retry comes.
    """
    if context.services.now() - stored.updated_at > _RETRIES_END:
        return True
    return any(decision.at >= stored.updated_at for decision in context.decisions())


def without_candidates(decisions: Iterable[Decision]) -> list[Decision]:
    """The last decision on each issue, if this decision showed no candidate. Sorted by the issues' numbers.

    `decisions` come earliest first. Decisions to skip an issue, for example after a bot's edit, do not count.
    """
    last = {decision.number: decision for decision in decisions if decision.outcome is not DecisionOutcome.LEFT_ALONE}
    return [last[number] for number in sorted(last) if not any(item.shown for item in last[number].evidence)]


def awaits_unlocking(context: IssueContext) -> bool:
    """Whether a just unlocked issue needs a look: the lock prevented the last look, or the stored row has no hash."""
    decisions, stored = context.decisions(), context.stored_comment()
    was_locked = bool(decisions) and decisions[-1].reason == LOCKED
    # A row without a hash marks an outdated answer. `issues.issue_indexed` stores such a row when it skips the issue.
    return was_locked or (stored is not None and stored.text_hash is None)
