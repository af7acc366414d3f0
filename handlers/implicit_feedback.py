"""Stores the feedback that people give by actions (C7): they close an issue, or tick a box in the digest.

GitHub sends no events for reactions, so `handlers/scheduled/repository_tasks.py` polls them. `handlers/commands/`
stores the verdicts of commands.
"""

from __future__ import annotations

import logging

from bot.deliveries.events import IssueEvent
from bot.domain.entities import same_login
from bot.domain.errors import Unavailable
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.formats import parse_time
from bot.quality.digest import store_checkboxes
from handlers.context import IssueContext

logger = logging.getLogger(__name__)


def closed(context: IssueContext, event: IssueEvent) -> None:
    """Somebody closed an issue: store a signal if a person closed it as a duplicate of an issue of this repository.

    The issue must have had candidates here, or been a candidate for the original. A closing for
    another reason only ends `of` verdicts. Any closing, even by a bot, removes an older signal.
    """
    issue = context.issue
    if issue.closed_at and event.closed_at and parse_time(event.closed_at) != issue.closed_at:
        # Somebody has reopened the issue and closed it again; the second closing has its own event.
        return
    store, repo_id = context.services.store, context.repository.id
    store.signals.drop(repo_id, issue.number, FeedbackKind.CLOSED)
    if event.sender.is_bot or issue.state != "closed":
        return
    if issue.state_reason == "duplicate":
        _closed_as_duplicate(context, event)
    else:
        store.verdicts.end_overtaken(repo_id, issue.number, context.services.now())


def _closed_as_duplicate(context: IssueContext, event: IssueEvent) -> None:
    store, repo_id, number = context.services.store, context.repository.id, context.number
    try:
        original = context.github.duplicate_of(context.repo, number)
    except Unavailable as failure:
        # Do not retry: GraphQL can fail permanently for a single repository, and nobody waits for this signal.
        logger.warning("%s#%d: the original of this duplicate is not noted: %s", context.repo, number, failure)
        return
    other = original.number if original and original.repo.key == context.repo.key else 0
    if original:
        # Keep only the `of` verdicts for this original.
        store.verdicts.end_overtaken(repo_id, number, context.services.now(), but=other)
    had_candidates_in_repo = any(item.own for past in context.decisions() for item in past.evidence)
    if other and (had_candidates_in_repo or _was_candidate_on(context, other)):
        login = event.sender.login
        is_author = same_login(login, event.author.login)
        # Only the author and people with triage access can close an issue. An author with triage access gets TRIAGE.
        role = Role.AUTHOR if is_author and not context.github.permission(context.repo, login).triage else Role.TRIAGE
        kind, now = FeedbackKind.CLOSED, context.services.now()
        signal = FeedbackSignal(number, kind, login, other, same=True, who=role, at=now)
        store.signals.put(repo_id, signal)


def reopened(context: IssueContext) -> None:
    """Somebody reopened the issue. If it is open now, end its closing signal and `of` verdicts."""
    if context.issue.state == "open":
        store = context.services.store
        store.signals.drop(context.repository.id, context.number, FeedbackKind.CLOSED)
        store.verdicts.end_overtaken(context.repository.id, context.number, context.services.now())


def digest_edited(context: IssueContext, event: IssueEvent) -> None:
    """Somebody edited an issue of the bot's own: store the boxes that they ticked, if the issue is the digest."""
    services, repo_id = context.services, context.repository.id
    stored = services.store.digest_issues.get(repo_id)
    if stored is None or stored.number != context.number or event.sender.is_bot or event.action != "edited":
        return
    login = event.sender.login
    if context.github.permission(context.repo, login).triage:
        store_checkboxes(services.store, services.index, repo_id, context.issue.body, login, services.now())


def _was_candidate_on(context: IssueContext, other: int) -> bool:
    decisions = context.services.store.decisions.of_issue(context.repository.id, other)
    return any(decision.about(context.number) for decision in decisions)
