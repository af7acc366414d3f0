"""Feedback without words (C7): closing an issue, giving it another title, ticking a box of the digest.

Reactions have no event; `handlers/scheduled/repository_tasks.py` reads them. Commands are stored as verdicts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.deliveries.events import IssueEvent
from bot.domain.decisions import COMMAND, Decision, DecisionOutcome, evidence
from bot.domain.entities import Actor, IssueRef, same_login
from bot.domain.errors import Unavailable
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.formats import parse_time
from bot.quality.digest import store_checkboxes
from bot.text.github_urls import named_by
from handlers.context import IssueContext

logger = logging.getLogger(__name__)


def closed(context: IssueContext, event: IssueEvent) -> None:
    """Somebody closed an issue: as a duplicate, of what?

    Closing it otherwise does not say that it repeats nothing, and a bot's closing says nothing. Our own `of` closes as
    a bot and is stored as a verdict; a person's later closing overtakes that.
    """
    issue = context.issue
    if issue.closed_at and event.closed_at and parse_time(event.closed_at) != issue.closed_at:
        # It was reopened and closed again since; another event tells of that.
        return
    store, repo_id = context.services.store, context.repository.id
    store.signals.drop(repo_id, issue.number, FeedbackKind.CLOSED)
    if event.sender.is_bot or issue.state != "closed":
        return
    if issue.state_reason == "duplicate":
        _closed_as_duplicate(context, event)
    else:
        store.verdicts.overtaken(repo_id, issue.number, context.services.now())


def _closed_as_duplicate(context: IssueContext, event: IssueEvent) -> None:
    store, repo_id, number = context.services.store, context.repository.id, context.number
    try:
        original = context.github.duplicate_of(context.repo, number)
    except Unavailable as failure:
        # GraphQL can fail over one repository for good, and nobody waits for this.
        logger.warning("%s#%d: as a duplicate of what it was closed is not noted: %s", context.repo, number, failure)
        return
    other = original.number if original and original.repo.key == context.repo.key else 0
    if original:
        store.verdicts.overtaken(repo_id, number, context.services.now(), but=other)
    had_candidates = any(one.own for decision in context.decisions() for one in decision.evidence)
    if other and (had_candidates or _was_candidate_on(context, other)):
        store.signals.put(repo_id, _signal(context, event, FeedbackKind.CLOSED, other, same=True))


def reopened(context: IssueContext) -> None:
    """Somebody reopened the issue, unless the event is late: what its closing said no longer holds."""
    if context.issue.state == "open":
        store = context.services.store
        store.signals.drop(context.repository.id, context.number, FeedbackKind.CLOSED)
        store.verdicts.overtaken(context.repository.id, context.number, context.services.now())


def digest_edited(context: IssueContext, event: IssueEvent) -> None:
    """Somebody edited an issue of the bot's own; in the digest they may have ticked a box."""
    services, repo_id = context.services, context.repository.id
    kept = services.store.digest_issues.get(repo_id)
    if kept is None or kept.number != context.number or event.sender.is_bot or event.action != "edited":
        return
    login = event.sender.login
    if context.github.permission(context.repo, login).triage:
        store_checkboxes(services.store, services.index, repo_id, context.issue.body, login, services.now())


@contextmanager
def retitling(context: IssueContext, event: IssueEvent) -> Iterator[None]:
    """Around a look after an edit: note which candidates a new title removed, and which an old one brought back.

    If a new title no longer resembles a candidate, its author says that the two differ.
    """
    if not event.title_changed or event.sender.is_bot:
        yield
        return
    # A command's own words find candidates that no title leads to.
    before = _last_decision(context, asked=False)
    yield
    now = _last_decision(context)
    if before is None or now is None:
        return
    if now.cause == COMMAND:
        # A command answered the new title while the edit waited, perhaps with words of its own.
        now = _decision_unasked(context, event.action)
    signals, repo_id = context.services.store.signals, context.repository.id
    for candidate in now.shown:
        signals.drop(repo_id, context.number, FeedbackKind.RETITLED, candidate.number)
    for candidate in before.shown:
        known = now.about(candidate.number)
        gone = _could_be_shown(context, candidate.number) if known is None else not known.shown
        # If it is still as likely as it had to be then, the threshold has moved and not the title.
        if gone and (known is None or known.probability < before.threshold):
            signals.put(repo_id, _signal(context, event, FeedbackKind.RETITLED, candidate.number, same=False))


def _could_be_shown(context: IssueContext, number: int) -> bool:
    """Whether only the title kept that issue out: it exists, is in a wanted state, and the text does not name it."""
    with context.services.index.view(context.repository.id) as view:
        row = view.issues([number]).get(number)
    if row is None or not (row.state == "open" or context.config.include_closed):
        return False
    return IssueRef(context.issue.repo, number).key not in named_by(context.issue)


def _role_of(context: IssueContext, login: str, author: Actor) -> Role:
    """The role of somebody who did what only the author and people with triage access can; the higher one if both."""
    if not same_login(login, author.login) or context.github.permission(context.repo, login).triage:
        return Role.TRIAGE
    return Role.AUTHOR


def _signal(context: IssueContext, event: IssueEvent, kind: FeedbackKind, other: int, *, same: bool) -> FeedbackSignal:
    login, role = event.sender.login, _role_of(context, event.sender.login, event.author)
    return FeedbackSignal(context.number, kind, login, other, same, role, context.services.now())


def _was_candidate_on(context: IssueContext, other: int) -> bool:
    """Whether this issue was a candidate on that one."""
    decisions = context.services.store.decisions.of_issue(context.repository.id, other)
    return any(decision.about(context.number) for decision in decisions)


def _last_decision(context: IssueContext, *, asked: bool = True) -> Decision | None:
    """The last decision, or without `asked` the last that no command caused, that did not skip the issue."""
    looks = (one for one in reversed(context.decisions()) if one.outcome is not DecisionOutcome.LEFT_ALONE)
    return next((one for one in looks if asked or one.cause != COMMAND), None)


def _decision_unasked(context: IssueContext, cause: str) -> Decision:
    """What the bot would show unasked now. Nothing is posted or stored."""
    report = context.find()
    found, mode, now = evidence(report, report.candidates), context.config.mode, context.services.now()
    return Decision(context.number, now, cause, mode, DecisionOutcome.UNCHANGED, context.threshold.value, "", found)
