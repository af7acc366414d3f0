"""`close_after`: decided when the time has come that the comment announces, and taken back by `undo`."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from dataclasses import replace

from bot.closing import Facts, Step, decide
from bot.errors import GitHubError, Invalid, NotFound, Unavailable
from bot.events import IssueEvent
from bot.events.own import DUE, own_issue_event
from bot.github.labels import DUPLICATE, duplicate_label
from bot.judgements import Verdict, VerdictKind
from bot.model import Comment, Issue, IssueRef, same_login
from bot.services import Services
from bot.store import CommentState
from bot.store.closings import ClosingState, KeptClosing
from handlers.advice import refresh
from handlers.feedback import right_of
from handlers.labelling import set_by_us
from handlers.offering import objects
from handlers.visit import Visit, visiting

logger = logging.getLogger(__name__)

CLOSE_EVERY = 3_600.0


def call_for_due(services: Services) -> None:
    """Queue a look at every issue whose time has come, in order with whatever else happens on it."""
    if services.settings.paused:
        return
    now = services.now()
    for known in services.store.repositories.list():
        if known.suspended or known.archived:
            continue
        for one in services.store.closings.due(known.id, now):
            event = own_issue_event(DUE, known.installation, known.summary, one.number)
            # Named by the turn, a look of a clock that was ahead would be known already when its time comes.
            services.inbox.put(f"{DUE}-{uuid.uuid4()}", event)


def due(event: IssueEvent, services: Services) -> None:
    """The time of one issue may have come."""
    with visiting(event, services) as visit:
        if visit is None:
            return
        store = services.store.closings
        kept = store.get(visit.repository.id, visit.number)
        if kept is None or visit.config.mode != "comment":
            return
        issue = visit.github.issue(visit.repo, visit.number)
        if kept.state is not ClosingState.OFFERED:
            # An attempt before this one has closed it, or is over with it, and could not say so in the comment.
            if kept.state is ClosingState.CLOSED or not _is_let_alone(visit, issue):
                refresh(visit, issue)
            return
        begun = _begun(visit)
        if begun and (issue.state, issue.state_reason) == ("closed", "duplicate"):
            # An attempt before this one has closed it, and did not hear that it had, or did not come to note it.
            _note_closed(visit, kept)
            return
        try:
            facts, target, who = _facts(visit, issue, kept)
        except Unavailable as failure:
            # GraphQL can fail over one repository for good; the schedule queues another look within the hour anyway.
            logger.warning("%s#%d: whether it may be closed cannot be seen now: %s", visit.repo, visit.number, failure)
            return
        step, reason = decide(facts)
        logger.info("%s#%d: %s, since %s", visit.repo, visit.number, step.name.lower(), reason)
        if step is not Step.CLOSE:
            # What an attempt before this one could not do has been prevented since.
            _forget(visit, begun)
        if step is Step.OVER:
            store.put(visit.repository.id, replace(kept, state=ClosingState.OVER))
            if not _is_let_alone(visit, issue):
                # What the comment promises for a 👍 must not outlast the waiting for it.
                refresh(visit, issue)
        elif step is Step.CLOSE and target is not None:
            _close(visit, issue, kept, target, who)


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
        services.store.closings.put(repo_id, replace(kept, state=ClosingState.OVER))
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
    store = visit.services.store.closings
    kept = store.get(visit.repository.id, visit.number)
    if kept is not None:
        store.put(visit.repository.id, replace(kept, state=ClosingState.OVER))
        refresh(visit, issue)


def opened_again(visit: Visit, issue: Issue) -> None:
    """Somebody has opened the issue by hand: if it was closed by itself, the comment says so no longer."""
    kept = visit.services.store.closings.get(visit.repository.id, visit.number)
    if kept is not None and kept.state is ClosingState.CLOSED:
        refresh(visit, issue)


def _facts(visit: Visit, issue: Issue, kept: KeptClosing) -> tuple[Facts, Issue | None, str]:
    """What `decide` asks for, the issue in whose favour this one may be closed, and who agreed."""
    services, repo_id = visit.services, visit.repository.id
    comment = visit.kept_comment()
    stands = comment is not None and comment.state is CommentState.POSTED and comment.comment_id is not None
    try:
        target: Issue | None = visit.github.issue(visit.repo, kept.other)
        original = visit.github.duplicate_of(visit.repo, kept.other)
    except NotFound:
        target = original = None
    ours = _ours(visit, comment.comment_id) if stands and comment and comment.comment_id else None
    page = visit.github.votes([ours.node_id]) if ours else None
    told = page.found.get(ours.node_id) if page and ours else None
    votes = told.votes if told else ()
    # What stands there was written by then, whatever an earlier version noted by a clock of ours that was fast.
    since = min(kept.since, ours.updated_at.timestamp()) if ours else kept.since
    author = issue.author.login
    labeller = _labeller(visit, since) if duplicate_label(issue.labels) else ""
    # An earlier 👍 thanks for what the comment said then, perhaps of another issue, and nothing of closing.
    agrees = any(vote.up and same_login(vote.login, author) and vote.at > since for vote in votes)
    facts = Facts(
        now=services.now(),
        since=kept.since,
        days=kept.days,
        wanted=visit.config.close_after is not None,
        is_open=_is_open(issue),
        muted=_is_muted(visit, issue),
        announced=ours is not None and comment is not None and comment.shown[:1] == (kept.other,),
        rejected=kept.other in services.store.verdicts.rejected(repo_id, visit.number),
        target_open=target is not None and target.state == "open" and not target.is_pull_request,
        target_older=target is not None and (target.created_at, target.number) < (issue.created_at, issue.number),
        circle=original is not None and original.key == IssueRef(visit.repo, visit.number).key,
        heard=told is not None,
        against=sum(not vote.up for vote in votes),
        comments=sum(objects(one, since) for one in visit.github.comments(visit.repo, visit.number)),
        author_agrees=agrees,
        labelled=bool(labeller),
    )
    return facts, target, author if agrees else labeller


def _ours(visit: Visit, comment_id: int) -> Comment | None:
    """The comment as it stands; None where it was deleted, and that is still on its way or was never heard."""
    try:
        return visit.github.comment(visit.repo, comment_id)
    except NotFound:
        return None


def _is_let_alone(visit: Visit, issue: Issue) -> bool:
    """Whether its comment stays as it is."""
    return not _is_open(issue) or _is_muted(visit, issue)


def _is_open(issue: Issue) -> bool:
    return issue.state == "open" and not issue.locked


def _is_muted(visit: Visit, issue: Issue) -> bool:
    """Whether people or `ignore` say to leave it alone. `only_labels` decides what is looked at: who has sorted an
    issue takes such a label off, and may agree by another one at the same time."""
    config = replace(visit.config, only_labels=())
    ignored = config.why_ignored(issue.author.login, issue.labels, issue.title) is not None
    return ignored or visit.services.store.muted.is_muted(visit.repository.id, visit.number)


def _labeller(visit: Visit, since: float) -> str:
    """Who set the label since the announcement, if they have triage access; forms give labels in anybody's name."""
    events = [one for one in visit.github.label_events(visit.repo, visit.number) if one.name.lower() == DUPLICATE]
    if not events or not events[-1].added or events[-1].at <= since or events[-1].actor.is_bot:
        return ""
    login = events[-1].actor.login
    return login if visit.github.permission(visit.repo, login).triage else ""
