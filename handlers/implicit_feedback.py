"""Feedback by actions (C7): closing an issue, changing its title, ticking a box in the digest.

GitHub sends no events for reactions, so `handlers/scheduled/repository_tasks.py` polls them. `handlers/commands/`
stores verdicts.
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
    """Somebody closed an issue: store a signal if a person closed it as a duplicate of a candidate.

    Closing an issue for another reason does not mean that the issue is no duplicate, and a bot's closing means nothing.
    The command `of` closes as a bot and stores a verdict; a later closing by a person replaces the verdict.
    """
    issue = context.issue
    if issue.closed_at and event.closed_at and parse_time(event.closed_at) != issue.closed_at:
        # Somebody has reopened the issue and closed it again, which has its own event.
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
        # Do not retry: GraphQL can fail permanently for a single repository, and nobody waits for this signal.
        logger.warning("%s#%d: as a duplicate of what it was closed is not noted: %s", context.repo, number, failure)
        return
    other = original.number if original and original.repo.key == context.repo.key else 0
    if original:
        store.verdicts.overtaken(repo_id, number, context.services.now(), but=other)
    had_candidates = any(item.own for decision in context.decisions() for item in decision.evidence)
    if other and (had_candidates or _was_candidate_on(context, other)):
        store.signals.put(repo_id, _signal(context, event, FeedbackKind.CLOSED, other, same=True))


def reopened(context: IssueContext) -> None:
    """Somebody reopened the issue: forget the signal of its closing, unless the issue is closed again by now."""
    if context.issue.state == "open":
        store = context.services.store
        store.signals.drop(context.repository.id, context.number, FeedbackKind.CLOSED)
        store.verdicts.overtaken(context.repository.id, context.number, context.services.now())


def digest_edited(context: IssueContext, event: IssueEvent) -> None:
    """Somebody edited an issue of the bot's own: store the boxes that they ticked, if the issue is the digest."""
    services, repo_id = context.services, context.repository.id
    kept = services.store.digest_issues.get(repo_id)
    if kept is None or kept.number != context.number or event.sender.is_bot or event.action != "edited":
        return
    login = event.sender.login
    if context.github.permission(context.repo, login).triage:
        store_checkboxes(services.store, services.index, repo_id, context.issue.body, login, services.now())


@contextmanager
def retitling(context: IssueContext, event: IssueEvent) -> Iterator[None]:
    """Compare the candidates before and after the look in this block, which answers an edit.

    If a new title no longer resembles a candidate, its author says that the two issues differ. If a title makes the
    candidate return, the author takes that back.
    """
    if not event.title_changed or event.sender.is_bot:
        yield
        return
    # Ignore commands: their search words find candidates that no title would find.
    before = _last_decision(context, asked=False)
    yield
    now = _last_decision(context)
    if before is None or now is None:
        return
    if now.cause == COMMAND:
        # A command looked at the new title while the edit waited, perhaps with search words.
        now = _decision_unasked(context, event.action)
    signals, repo_id = context.services.store.signals, context.repository.id
    for candidate in now.shown:
        signals.drop(repo_id, context.number, FeedbackKind.RETITLED, candidate.number)
    for candidate in before.shown:
        present = now.about(candidate.number)
        gone = _could_be_shown(context, candidate.number) if present is None else not present.shown
        # A candidate that would still reach the old threshold is gone because of a new threshold, not the new title.
        if gone and (present is None or present.probability < before.threshold):
            signals.put(repo_id, _signal(context, event, FeedbackKind.RETITLED, candidate.number, same=False))


def _could_be_shown(context: IssueContext, number: int) -> bool:
    """Whether only the title kept that issue out: it exists, its state is wanted, and the text does not name it."""
    with context.services.index.view(context.repository.id) as view:
        row = view.issues([number]).get(number)
    if row is None or not (row.state == "open" or context.config.include_closed):
        return False
    return IssueRef(context.issue.repo, number).key not in named_by(context.issue)


def _role_of(context: IssueContext, login: str, author: Actor) -> Role:
    """The role of a person who must be the author or have triage access; `TRIAGE` for a person who is both."""
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
    """The last decision that did not skip the issue. Without `asked`, ignore decisions that a command caused."""
    looks = (past for past in reversed(context.decisions()) if past.outcome is not DecisionOutcome.LEFT_ALONE)
    return next((decision for decision in looks if asked or decision.cause != COMMAND), None)


def _decision_unasked(context: IssueContext, cause: str) -> Decision:
    """What the bot would show unasked now. Nothing is posted or stored."""
    report = context.find()
    found, mode, now = evidence(report, report.candidates), context.config.mode, context.services.now()
    return Decision(context.number, now, cause, mode, DecisionOutcome.UNCHANGED, context.threshold.value, "", found)
