"""The label `duplicate`, suggested or added if the bot is sure and removed if it no longer is (`label`), and GitHub's
own suggestion to close (`suggest_closing`).

Each happens once for an issue: if the label was on it or was suggested before, people have decided. If GitHub refuses,
it is not tried again.
"""

from __future__ import annotations

import logging

from bot.domain.errors import DoppelError
from bot.domain.likelihood import Likelihood, Tier, likelihood
from bot.domain.report import Candidate, Report, SearchOutcome
from bot.github.feedback import ADD_LABEL, CLOSE, DUPLICATE, SUGGESTIONS_SINCE, Confidence, duplicate_label
from handlers.context import IssueContext

logger = logging.getLogger(__name__)


def label(context: IssueContext, named: tuple[Candidate, ...]) -> None:
    """Suggest or add the label after a comment that names these candidates."""
    use, first = context.config.label, _likely_first(context, named)
    if use == "off" or first is None or first.confidence is None:
        return
    if use == "add" and likelihood(first.confidence, context.config.likely) is not Likelihood.VERY_LIKELY:
        return
    try:
        _label(context, first.number, first.confidence)
    except DoppelError as refusal:
        logger.warning("no label on %s#%d: %s", context.repo, context.number, refusal)


def _likely_first(context: IssueContext, named: tuple[Candidate, ...]) -> Candidate | None:
    """The first candidate, if it is a likely issue of this repository and the target is open.

    A candidate that only a model's verdict makes likely labels and suggests nothing (J4).
    """
    first = named[0] if named else None
    if first is None or not first.own or context.issue.state != "open":
        return None
    if likelihood(first.confidence or 0.0, context.config.likely).tier is not Tier.LIKELY:
        return None
    return None if first.unjudged is not None and first.unjudged < context.threshold.value else first


def unlabel(context: IssueContext, report: Report) -> None:
    """Remove the label that the bot added, once a complete look finds nothing likely: the issue was rewritten, or the
    pair rejected. A label that a person has set since stays.
    """
    likely = any(
        likelihood(one.confidence or 0.0, context.config.likely).tier is Tier.LIKELY
        for one in report.candidates
        if one.own
    )
    sure = report.outcome in (SearchOutcome.FOUND, SearchOutcome.NONE)
    if context.config.label != "add" or likely or not sure or context.issue.state != "open":
        return
    try:
        if name := label_set_by_bot(context):
            context.github.remove_label(context.repo, context.number, name)
    except DoppelError as refusal:
        logger.warning("the label stays on %s#%d: %s", context.repo, context.number, refusal)


def label_set_by_bot(context: IssueContext) -> str | None:
    """The label as the issue has it, if the bot set it (`label: add`) and nobody has since; else None."""
    name = duplicate_label(context.issue.labels)
    if name is None:
        return None
    events = context.github.label_events(context.repo, context.number)
    events = [one for one in events if one.name.lower() == DUPLICATE]
    ours = events and events[-1].added and events[-1].actor.login == context.services.github.login()
    return name if ours else None


def _label(context: IssueContext, other: int, confidence: float) -> None:
    github, repo, number = context.github, context.repo, context.number
    suggest = context.config.label == "suggest"
    name = duplicate_label(github.labels(repo))
    if name is None or duplicate_label(context.issue.labels):
        return
    if suggest and context.services.github.api_version < SUGGESTIONS_SINCE:
        return
    suggested = github.suggestions(repo, number)
    if suggest and suggested is None:
        return
    before = [event.name for event in github.label_events(repo, number)]
    if duplicate_label([*before, *(one.value for one in suggested or () if one.action == ADD_LABEL)]):
        return
    if suggest:
        github.suggest_label(repo, number, name, *_rationale(context, other, confidence))
    else:
        github.add_labels(repo, number, [name])


def _rationale(context: IssueContext, other: int, confidence: float) -> tuple[str, Confidence]:
    """The reason and the confidence that GitHub shows with a suggestion."""
    rationale = context.messages.label_rationale(percent=confidence, number=str(other))
    return rationale, "high" if likelihood(confidence) is Likelihood.VERY_LIKELY else "medium"


def suggest_closing(context: IssueContext, named: tuple[Candidate, ...]) -> None:
    """Suggest to close the issue as a duplicate, after a comment that calls its first candidate likely (C6b)."""
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
    if before is None or any(one.action == CLOSE for one in before):
        return
    original = github.issue(repo, other)
    github.suggest_closing(repo, number, original.id, *_rationale(context, other, confidence))
    # GitHub answers 200 even if it does nothing.
    made = github.suggestions(repo, number) or ()
    if not any((one.action, one.target) == (CLOSE, original.id) for one in made):
        logger.warning("GitHub has not kept the suggestion to close %s#%d", repo, number)
