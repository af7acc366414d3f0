"""What people do with an issue that says whether the bot was right: closing it, and giving it another title (C7).

Reactions come without an event; `handlers/scheduled/feedback.py` asks for them. Commands are kept as verdicts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.deliveries.events import IssueEvent
from bot.domain.decisions import COMMAND, Decision, Outcome, evidence
from bot.domain.entities import Actor, Issue, IssueRef, same_login
from bot.domain.errors import Unavailable
from bot.domain.judgements import Kind, Signal, Who
from bot.domain.times import read_moment
from bot.quality.digest import store_checkboxes
from bot.text.github_urls import named_by
from handlers.finding import find
from handlers.visit import Visit

logger = logging.getLogger(__name__)


def closed(visit: Visit, issue: Issue, event: IssueEvent) -> None:
    """Somebody closed an issue that the bot had candidates for: as a duplicate, of what?

    To close it otherwise does not say that it repeats nothing, and what bots close says nothing at all. Our own `of`
    closes as a bot, and is kept as a verdict, which a person's closing otherwise overtakes.
    """
    if issue.closed_at and event.closed_at and read_moment(event.closed_at) != issue.closed_at:
        # It was opened since, and closed anew by somebody else perhaps, of which another event tells.
        return
    store, repo_id = visit.services.store, visit.repository.id
    store.signals.drop(repo_id, issue.number, Kind.CLOSED)
    if event.sender.is_bot or issue.state != "closed":
        return
    if issue.state_reason == "duplicate":
        _closed_as_duplicate(visit, event)
        return
    store.verdicts.overtaken(repo_id, issue.number, visit.services.now())


def _closed_as_duplicate(visit: Visit, event: IssueEvent) -> None:
    store, repo_id = visit.services.store, visit.repository.id
    try:
        original = visit.github.duplicate_of(visit.repo, visit.number)
    except Unavailable as failure:
        # GraphQL can fail over one repository for good, and this is evidence and nothing that anybody waits for.
        logger.warning(
            "%s#%d: as a duplicate of what it was closed is not noted: %s", visit.repo, visit.number, failure
        )
        return
    other = original.number if original and original.repo.key == visit.repo.key else 0
    if original:
        store.verdicts.overtaken(repo_id, visit.number, visit.services.now(), but=other)
    if other and (_had_candidates(visit) or _came_up(visit, other)):
        store.signals.put(repo_id, _signal(visit, event, Kind.CLOSED, other, same=True))


def reopened(visit: Visit, issue: Issue) -> None:
    """Somebody sees it otherwise by now, if it is still open: the event may be late."""
    if issue.state == "open":
        store = visit.services.store
        store.signals.drop(visit.repository.id, visit.number, Kind.CLOSED)
        store.verdicts.overtaken(visit.repository.id, visit.number, visit.services.now())


def ticked(visit: Visit, issue: Issue, event: IssueEvent) -> None:
    """Somebody edited an issue of the bot's own: in that of the digest they may have ticked a box.

    On GitHub only people with write access can; they are asked for their right all the same, as everywhere.
    """
    kept = visit.services.store.digest_issues.get(visit.repository.id)
    if kept is None or kept.number != issue.number or event.sender.is_bot or event.action != "edited":
        return
    if visit.github.permission(visit.repo, event.sender.login).triage:
        services = visit.services
        store_checkboxes(
            services.store, services.index, visit.repository.id, issue.body, event.sender.login, services.now()
        )


@contextmanager
def retitling(visit: Visit, issue: Issue, event: IssueEvent) -> Iterator[None]:
    """Note which candidates a new title has taken out of the comment, and which an old one has brought back.

    Who gives an issue a title after which it no longer resembles what was shown says that it was something else.
    """
    if not event.title_changed or event.sender.is_bot:
        yield
        return
    # A command's own words find what no title leads to.
    before = _last(visit, asked=False)
    yield
    now = _last(visit)
    if before is None or now is None:
        return
    if now.cause == COMMAND:
        # It came while the edit waited, and has answered the new title; perhaps with words of its own.
        now = _unasked(visit, issue, event.action)
    signals = visit.services.store.signals
    for candidate in now.shown:
        signals.drop(visit.repository.id, visit.number, Kind.RETITLED, candidate.number)
    for candidate in before.shown:
        # Where it is as likely as it had to be then, the threshold has moved and not the title.
        known = now.about(candidate.number)
        gone = _could_be_shown(visit, issue, candidate.number) if known is None else not known.shown
        if gone and (known is None or known.probability < before.threshold):
            signal = _signal(visit, event, Kind.RETITLED, candidate.number, same=False)
            signals.put(visit.repository.id, signal)


def _could_be_shown(visit: Visit, issue: Issue, number: int) -> bool:
    """Whether it is the title by which a look has not come upon another issue: that is still there, in a state that is
    looked for, and not named by this one, which would rather say that they are the same."""
    with visit.services.index.view(visit.repository.id) as view:
        row = view.issues([number]).get(number)
    if row is None or not (row.state == "open" or visit.config.include_closed):
        return False
    return IssueRef(issue.repo, number).key not in named_by(issue)


def right_of(visit: Visit, login: str, author: Actor) -> Who:
    """With which right somebody did what only the issue's author can do, and people with triage access.

    Who is both counts as what they may do here.
    """
    if not same_login(login, author.login) or visit.github.permission(visit.repo, login).triage:
        return Who.TRIAGE
    return Who.AUTHOR


def _signal(visit: Visit, event: IssueEvent, kind: Kind, other: int, *, same: bool) -> Signal:
    who = right_of(visit, event.sender.login, event.author)
    return Signal(visit.number, kind, event.sender.login, other, same, who, visit.services.now())


def _had_candidates(visit: Visit) -> bool:
    decisions = visit.decisions()
    return any(one.own for decision in decisions for one in decision.evidence)


def _came_up(visit: Visit, other: int) -> bool:
    """Whether this issue came into question on that one."""
    decisions = visit.services.store.decisions.of_issue(visit.repository.id, other)
    return any(decision.about(visit.number) for decision in decisions)


def _last(visit: Visit, *, asked: bool = True) -> Decision | None:
    """The last look, or the last that no command `asked` for; that the issue was left alone since, as after a bot's
    edit, changed nothing of what is shown.
    """
    looks = (one for one in reversed(visit.decisions()) if one.outcome is not Outcome.LEFT_ALONE)
    return next((one for one in looks if asked or one.cause != COMMAND), None)


def _unasked(visit: Visit, issue: Issue, cause: str) -> Decision:
    """What the bot would show of its own accord now; nothing is said or kept of it."""
    report, now = find(visit, issue), visit.services.now()
    found = evidence(report, report.candidates)
    return Decision(visit.number, now, cause, visit.config.mode, Outcome.UNCHANGED, visit.threshold.value, "", found)
