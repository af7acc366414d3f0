"""Whether an issue was answered: what the advisory comment, the index and unlocking ask before they look again."""

from __future__ import annotations

from collections.abc import Iterable

from bot.conversation.comments import hash_texts
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import Issue
from bot.storage import StoredComment
from handlers.context import LOCKED, IssueContext

# Seconds. The queue retries a delivery for less than a day.
_RETRIED = 86_400.0


def text_hash(issue: Issue, *, shadow: bool = False) -> str:
    """The hash that tells whether an issue's text was answered: on GitHub, or only in `mode: shadow`."""
    return hash_texts(issue.title, issue.body, *(["shadow"] if shadow else []))


def is_answered(context: IssueContext, kept: StoredComment) -> bool:
    """Whether the issue's present text was answered and that look has ended.

    An answer that was only recorded in `mode: shadow` counts in that mode alone.
    """
    answers = {text_hash(context.issue)}
    if context.config.mode == "shadow":
        answers.add(text_hash(context.issue, shadow=True))
    return kept.text_hash in answers and has_ended(context, kept)


def has_ended(context: IssueContext, kept: StoredComment) -> bool:
    """Whether the look that wrote the comment came to its end: a worker can be killed between any two of its steps.

    A look ends by storing its decision.
    """
    if context.services.now() - kept.updated_at > _RETRIED:
        return True
    return any(decision.at >= kept.updated_at for decision in context.decisions())


def without_candidates(decisions: Iterable[Decision]) -> list[Decision]:
    """The last decision on each issue, by number, if it named nothing, whether a comment says so or not.

    `decisions` come earliest first. Those that skipped the issue, as after a bot's edit, do not count.
    """
    last = {one.number: one for one in decisions if one.outcome is not DecisionOutcome.LEFT_ALONE}
    return [last[number] for number in sorted(last) if not any(one.shown for one in last[number].evidence)]


def awaits_unlocking(context: IssueContext) -> bool:
    """Whether something happened to the issue while it was locked that no look has answered since."""
    decisions, kept = context.decisions(), context.kept_comment()
    skipped = bool(decisions) and decisions[-1].reason == LOCKED
    return skipped or (kept is not None and kept.text_hash is None)
