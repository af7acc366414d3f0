"""`close_after`: decided when the time has come that the comment announces, and taken back by `undo`."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from dataclasses import replace

from bot.errors import GitHubError, Invalid, Unavailable
from bot.events import IssueEvent
from bot.events.own import DUE, own_issue_event
from bot.judgements import Verdict, VerdictKind
from bot.model import Issue
from bot.services import Services
from bot.store.parts.closings import ClosingState, KeptClosing
from handlers.advice.advice import refresh
from handlers.advice.labelling import set_by_us
from handlers.closing.facts import facts_of, is_let_alone
from handlers.closing.rule import Step, decide
from handlers.feedback import right_of
from handlers.visit import Visit, visited

logger = logging.getLogger(__name__)

CLOSE_EVERY = 3_600.0


def call_for_due(services: Services) -> None:
    """Queue a look at every issue whose time has come, in order with whatever else happens on it."""
    if services.settings.paused:
        return
    # By GitHub's clock, as for the decision.
    now = services.github.now()
    for known in services.store.repositories.list():
        if known.suspended or known.archived:
            continue
        for one in services.store.closings.due(known.id, now):
            event = own_issue_event(DUE, known.installation, known.summary, one.number)
            # Named by the turn, a look of a clock that was ahead would be known already when its time comes.
            services.inbox.put(f"{DUE}-{uuid.uuid4()}", event)


@visited
def due(visit: Visit, event: IssueEvent) -> None:
    """The time of one issue may have come."""
    kept = visit.kept_closing()
    if kept is None or visit.config.mode != "comment":
        return
    issue = visit.github.issue(visit.repo, visit.number)
    if kept.state is not ClosingState.OFFERED:
        # An attempt before this one has closed it, or is over with it, and could not say so in the comment.
        if kept.state is ClosingState.CLOSED or not is_let_alone(visit, issue):
            refresh(visit, issue)
        return
    begun = _begun(visit)
    if begun and (issue.state, issue.state_reason) == ("closed", "duplicate"):
        # An attempt before this one has closed it, and did not hear that it had, or did not come to note it.
        _note_closed(visit, kept)
    else:
        _decide(visit, issue, kept, begun)


def _decide(visit: Visit, issue: Issue, kept: KeptClosing, begun: Iterable[Verdict]) -> None:
    """Close it, wait on, or be over with it, by what is known now. `begun` is what an attempt before has not done."""
    try:
        facts, target, who = facts_of(visit, issue, kept)
    except Unavailable as failure:
        # GraphQL can fail over one repository for good; the schedule queues another look within the hour anyway.
        logger.warning("%s#%d: whether it may be closed cannot be seen now: %s", visit.repo, visit.number, failure)
        return
    step, reason = decide(facts)
    logger.info("%s#%d: %s, since %s", visit.repo, visit.number, step.name.lower(), reason)
    if step is Step.CLOSE:
        assert target is not None, "it is open"
        _close(visit, issue, kept, target, who)
        return
    # It has been prevented since.
    _forget(visit, begun)
    if step is Step.OVER:
        visit.services.store.closings.end(visit.repository.id, kept)
        if not is_let_alone(visit, issue):
            # What the comment promises for a 👍 must not outlast the waiting for it.
            refresh(visit, issue)


def _close(visit: Visit, issue: Issue, kept: KeptClosing, target: Issue, who: str) -> None:
    """Close it as `of` would, in the name of whoever agreed, so that `undo` can take it back."""
    services, repo_id = visit.services, visit.repository.id
    comment = visit.kept_comment()
    assert comment is not None and comment.comment_id is not None, "it announces the closing"
    services.store.verdicts.add(
        repo_id,
        visit.number,
        target.number,
        VerdictKind.OF,
        actor=who,
        command_id=comment.comment_id,
        now=services.now(),
        details={
            "was": "open",
            "label": set_by_us(visit, issue),
            "by_itself": True,
            "who": right_of(visit, who, issue.author),
        },
    )
    try:
        visit.github.close_as_duplicate(visit.repo, visit.number, target.id)
    except GitHubError as refusal:
        _forget(visit, services.store.verdicts.by_command(repo_id, comment.comment_id))
        if not isinstance(refusal, Invalid):
            raise
        # It would be refused every hour anew, as by Enterprise Servers that do not know this way to close.
        logger.warning("%s#%d is not closed by itself, nor tried again: %s", visit.repo, visit.number, refusal)
        services.store.closings.end(repo_id, kept)
        refresh(visit, issue)
        return
    _note_closed(visit, kept)


def _note_closed(visit: Visit, kept: KeptClosing) -> None:
    """The issue is closed; its comment says so."""
    closed = replace(kept, since=visit.services.now(), state=ClosingState.CLOSED)
    visit.services.store.closings.put(visit.repository.id, closed)
    refresh(visit, visit.github.issue(visit.repo, visit.number))


def _begun(visit: Visit) -> list[Verdict]:
    """What is stored of a closing: the decision comes before the request, and an attempt can end between the two."""
    store, repo_id = visit.services.store, visit.repository.id
    comment = visit.kept_comment()
    if comment is None or comment.comment_id is None:
        return []
    taken = store.verdicts.by_command(repo_id, comment.comment_id)
    return [one for one in taken if one.details.get("by_itself") and one.undone_at is None]


def _forget(visit: Visit, decisions: Iterable[Verdict]) -> None:
    for decision in decisions:
        visit.services.store.verdicts.remove(decision.id)


def taken_back(visit: Visit, issue: Issue) -> None:
    """`undo` has opened the issue again: it is never closed by itself any more, and the comment says so no longer."""
    kept = visit.kept_closing()
    if kept is not None:
        visit.services.store.closings.end(visit.repository.id, kept)
        refresh(visit, issue)


def opened_again(visit: Visit, issue: Issue) -> None:
    """Somebody has opened the issue by hand: if it was closed by itself, the comment says so no longer."""
    kept = visit.kept_closing()
    if kept is not None and kept.state is ClosingState.CLOSED:
        refresh(visit, issue)
