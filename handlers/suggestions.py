"""Suggests or adds the label `duplicate` (setting `label`), and suggests closing an issue (`suggest_closing`).

If the first candidate is likely, the bot suggests the label. With `label: add`, the bot adds the label instead, but
only if the candidate is very likely; once no candidate is likely, the bot removes the label that it added. An issue
that ever had the label or the suggestion gets neither again. If GitHub refuses, the bot tries again at the next look.
"""

from __future__ import annotations

import logging

from bot.domain.errors import DoppelError, GitHubError, RateLimited
from bot.domain.likelihood import Likelihood, Tier, likelihood
from bot.domain.report import Candidate, Report, SearchOutcome
from bot.github.feedback import (
    ADD_LABEL,
    CLOSE,
    DUPLICATE,
    SUGGESTIONS_SINCE,
    Confidence,
    LabelEvent,
    duplicate_label,
)
from handlers.context import IssueContext

logger = logging.getLogger(__name__)


def label(context: IssueContext, named: tuple[Candidate, ...]) -> None:
    """Suggest or add the label after a comment that lists these candidates."""
    mode, first = context.config.label, _likely_first(context, named)
    if mode == "off" or first is None or first.confidence is None:
        return
    if mode == "add" and likelihood(first.confidence, context.config.likely) is not Likelihood.VERY_LIKELY:
        return
    try:
        _label(context, first.number, first.confidence)
    except DoppelError as refusal:
        logger.warning("no label on %s#%d: %s", context.repo, context.number, refusal)


def _likely_first(context: IssueContext, named: tuple[Candidate, ...]) -> Candidate | None:
    """The first candidate, if it is likely, belongs to this repository, and the context's issue is open.

    A candidate does not count if its confidence without the judge's verdict (`unjudged`) is below the threshold (J4).
    """
    first = named[0] if named else None
    if first is None or not first.own or context.issue.state != "open":
        return None
    if likelihood(first.confidence or 0.0, context.config.likely).tier is not Tier.LIKELY:
        return None
    needs_verdict = first.unjudged is not None and first.unjudged < context.threshold.value
    return None if needs_verdict else first


def unlabel(context: IssueContext, report: Report) -> None:
    """Remove the bot's label if a complete look finds no likely candidate any more, as after an edit or a `not`."""
    likely = any(
        likelihood(candidate.confidence or 0.0, context.config.likely).tier is Tier.LIKELY
        for candidate in report.candidates
        if candidate.own
    )
    complete = report.outcome in (SearchOutcome.FOUND, SearchOutcome.NONE)
    if context.config.label != "add" or likely or not complete or context.issue.state != "open":
        return
    try:
        remove_own_label(context)
    except DoppelError as refusal:
        logger.warning("the label stays on %s#%d: %s", context.repo, context.number, refusal)


def add_label(context: IssueContext, name: str) -> None:
    """Add the label `duplicate`, and record the position of the bot's entry in the label's history."""
    labelled, key = context.services.store.labelled, (context.repository.id, context.number)
    # Record first: if GitHub's answer gets lost (Unavailable), the label may have been added.
    labelled.set(*key, len(_label_history(context)))
    try:
        context.github.add_labels(context.repo, context.number, [name])
    except (GitHubError, RateLimited):
        # These errors mean that no label was added. After Overtaken, the worker that took over still needs the record.
        labelled.clear(*key)
        raise


def remove_own_label(context: IssueContext) -> None:
    """Remove the label `duplicate` if the bot added it, and nobody removed or added it since."""
    # The login does not prove that the bot added the label: workflows share a login, and a token can be a person's.
    name = duplicate_label(context.issue.labels)
    position = context.services.store.labelled.changes_before(context.repository.id, context.number)
    if name is None or position is None:
        return
    history = _label_history(context)
    unchanged_since = len(history) == position + 1
    if unchanged_since and history[-1].added and history[-1].actor.login == context.services.github.login():
        context.github.remove_label(context.repo, context.number, name)


def _label_history(context: IssueContext) -> list[LabelEvent]:
    """When the label `duplicate` was added to the issue and removed, oldest first."""
    events = context.github.label_events(context.repo, context.number)
    return [event for event in events if event.name.lower() == DUPLICATE]


def _label(context: IssueContext, other: int, confidence: float) -> None:
    github, repo, number = context.github, context.repo, context.number
    suggest = context.config.label == "suggest"
    name = duplicate_label(github.labels(repo))
    if name is None or duplicate_label(context.issue.labels):
        return
    if suggest and context.services.github.api_version < SUGGESTIONS_SINCE:
        return
    suggested = github.suggestions(repo, number)  # None: the repository does not support suggestions.
    if suggest and suggested is None:
        return
    labels_suggested = [past.value for past in suggested or () if past.action == ADD_LABEL]
    if _label_history(context) or duplicate_label(labels_suggested):
        return
    if suggest:
        github.suggest_label(repo, number, name, *_rationale(context, other, confidence))
    else:
        add_label(context, name)


def _rationale(context: IssueContext, other: int, confidence: float) -> tuple[str, Confidence]:
    """The reason and the confidence that GitHub shows with a suggestion."""
    rationale = context.messages.label_rationale(percent=confidence, number=str(other))
    return rationale, "high" if likelihood(confidence) is Likelihood.VERY_LIKELY else "medium"


def suggest_closing(context: IssueContext, named: tuple[Candidate, ...]) -> None:
    """Suggest closing the issue as a duplicate, after a comment that calls the first candidate likely (C6b)."""
    first = _likely_first(context, named)
    if not context.config.suggest_closing or first is None:
        return
    try:
        _suggest_closing(context, first.number, first.confidence or 0.0)
    except DoppelError as refusal:
        logger.warning("no suggestion to close %s#%d: %s", context.repo, context.number, refusal)


def _suggest_closing(context: IssueContext, other: int, confidence: float) -> None:
    github, repo, number = context.github, context.repo, context.number
    if context.services.github.api_version < SUGGESTIONS_SINCE:
        return
    before = github.suggestions(repo, number)
    if before is None or any(past.action == CLOSE for past in before):
        return
    original = github.issue(repo, other)
    github.suggest_closing(repo, number, original.id, *_rationale(context, other, confidence))
    # Check the result, because GitHub answers 200 even if it does nothing.
    made = github.suggestions(repo, number) or ()
    if not any((suggestion.action, suggestion.target) == (CLOSE, original.id) for suggestion in made):
        logger.warning("GitHub has not kept the suggestion to close %s#%d", repo, number)
