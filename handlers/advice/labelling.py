"""The label `duplicate`, suggested or added where the bot is sure, and taken off again where it no longer is (`label`);
and GitHub's own suggestion to close (`suggest_closing`).

Each once for an issue: where the label was on it before, or was suggested before, people have decided.
"""

from __future__ import annotations

import logging

from bot.domain.entities import Issue
from bot.domain.errors import DoppelError
from bot.domain.likelihood import Likelihood, Tier, likelihood
from bot.domain.report import Candidate, Outcome, Report
from bot.github.labels import ADD_LABEL, CLOSE, DUPLICATE, SUGGESTIONS_SINCE, Confidence, LabelEvent, duplicate_label
from handlers.visit import Visit

logger = logging.getLogger(__name__)


def label(visit: Visit, issue: Issue, named: tuple[Candidate, ...]) -> None:
    """Suggest or add the label after a comment that names these candidates. What fails is not tried again."""
    use, first = visit.config.label, named[0] if named else None
    if use == "off" or first is None or not first.own or first.confidence is None or issue.state != "open":
        return
    word = likelihood(first.confidence, visit.config.likely)
    if word is not Likelihood.VERY_LIKELY and (use == "add" or word.tier is not Tier.LIKELY):
        return
    if _by_verdict_alone(visit, first):
        return
    try:
        _label(visit, issue, first.number, first.confidence)
    except DoppelError as refusal:
        logger.warning("no label on %s#%d: %s", visit.repo, visit.number, refusal)


def _by_verdict_alone(visit: Visit, first: Candidate) -> bool:
    """Whether only a model's verdict makes the candidate likely. That alone labels and suggests nothing (J4)."""
    return first.unjudged is not None and first.unjudged < visit.threshold.value


def unlabel(visit: Visit, issue: Issue, report: Report, named: tuple[Candidate, ...]) -> None:
    """Take off the label that the bot has set, once a look at all there is finds nothing likely any more: the issue was
    rewritten, or the pair rejected. What a person has set since stays, and so it does where a source was away.
    """
    tiers = [likelihood(one.confidence or 0.0, visit.config.likely).tier for one in named if one.own]
    sure = report.outcome in (Outcome.FOUND, Outcome.NONE)
    if visit.config.label != "add" or Tier.LIKELY in tiers or not sure or issue.state != "open":
        return
    try:
        if name := set_by_us(visit, issue):
            visit.github.remove_label(visit.repo, visit.number, name)
    except DoppelError as refusal:
        logger.warning("the label stays on %s#%d: %s", visit.repo, visit.number, refusal)


def set_by_us(visit: Visit, issue: Issue) -> str | None:
    """The label as the issue has it, where the bot has set it (`label: add`) and nobody has since; else None."""
    name = duplicate_label(issue.labels)
    if name is None:
        return None
    last = last_set(visit)
    return name if last and last.actor.login == visit.services.github.login() else None


def last_set(visit: Visit) -> LabelEvent | None:
    """How the label `duplicate` came to the issue the last time; None where it was taken off since, or never set."""
    events = [one for one in visit.github.label_events(visit.repo, visit.number) if one.name.lower() == DUPLICATE]
    return events[-1] if events and events[-1].added else None


def _label(visit: Visit, issue: Issue, other: int, confidence: float) -> None:
    name = duplicate_label(visit.github.labels(visit.repo))
    if name is None or duplicate_label(issue.labels):
        return
    if visit.config.label == "suggest" and visit.services.github.api_version < SUGGESTIONS_SINCE:
        return
    suggested = visit.github.suggestions(visit.repo, visit.number)
    if visit.config.label == "suggest" and suggested is None:
        return
    before = [event.name for event in visit.github.label_events(visit.repo, visit.number)]
    if duplicate_label([*before, *(one.value for one in suggested or () if one.action == ADD_LABEL)]):
        return
    if visit.config.label == "add":
        visit.github.add_labels(visit.repo, visit.number, [name])
        return
    visit.github.suggest_label(visit.repo, visit.number, name, *_why(visit, issue, other, confidence))


def _why(visit: Visit, issue: Issue, other: int, confidence: float) -> tuple[str, Confidence]:
    """What a suggestion is given along, for the maintainer who decides."""
    rationale = visit.words(issue).label_rationale(percent=confidence, number=str(other))
    return rationale, "high" if likelihood(confidence) is Likelihood.VERY_LIKELY else "medium"


def suggest_closing(visit: Visit, issue: Issue, named: tuple[Candidate, ...]) -> None:
    """Suggest to close the issue as a duplicate, after a comment that calls its first candidate likely (C6b).

    Once for an issue: where it was suggested before, people have decided. What fails is not tried again.
    """
    first = named[0] if named else None
    if not visit.config.suggest_closing or first is None or not first.own or issue.state != "open":
        return
    if likelihood(first.confidence or 0.0, visit.config.likely).tier is not Tier.LIKELY:
        return
    if _by_verdict_alone(visit, first):
        return
    try:
        _suggest_closing(visit, issue, first.number, first.confidence or 0.0)
    except DoppelError as refusal:
        logger.warning("no suggestion to close %s#%d: %s", visit.repo, visit.number, refusal)


def _suggest_closing(visit: Visit, issue: Issue, other: int, confidence: float) -> None:
    if visit.services.github.api_version < SUGGESTIONS_SINCE:
        return
    before = visit.github.suggestions(visit.repo, visit.number)
    if before is None or any(one.action == CLOSE for one in before):
        return
    original = visit.github.issue(visit.repo, other)
    visit.github.suggest_closing(visit.repo, visit.number, original.id, *_why(visit, issue, other, confidence))
    # GitHub answers 200 where it does nothing.
    made = visit.github.suggestions(visit.repo, visit.number) or ()
    if not any((one.action, one.target) == (CLOSE, original.id) for one in made):
        logger.warning("GitHub has not kept the suggestion to close %s#%d", visit.repo, visit.number)
