"""`not` and `undo`: deciding that a pair of issues is no duplicate, and taking a decision back (C4); also of issues of
other repositories, which a comment shows where `siblings` are searched (H6).

Each can be started twice for one comment, after a crash or a time-out, so every step can be repeated. The comment of
the other issue is brought up to date by a job of its own, in order with whatever else happens on that issue.
"""

from __future__ import annotations

import uuid
from contextlib import suppress

from bot.conversation.commands.table import COMMANDS_BY_NAME, Command, CommandName, Requirement
from bot.deliveries.events import JUDGED, IssueEvent, own_issue_event
from bot.domain.entities import RepoRef, name_key, same_login
from bot.domain.errors import Invalid, NotFound
from bot.domain.feedback import Rejection, Role, UserVerdict, UserVerdictKind
from bot.storage import CommentState
from handlers.advisory_comment import refresh
from handlers.commands.close_as_duplicate import closed_for
from handlers.commands.request import CommandRequest, CommandResult, number_named, stands_there
from handlers.context import IssueContext, visited
from handlers.suggestions import set_by_us

# Reasons with which `of` may have found an issue closed.
_CLOSED = ("completed", "not_planned")


def reject(ask: CommandRequest, command: Command) -> CommandResult:
    """`not #N`: never show this pair again, whichever of the two is looked at; the comment loses it at once.

    #N may be whatever the comment can name of this repository: pull requests and discussions share the issues' numbers.
    """
    if command.repo:
        return reject_elsewhere(ask, command)
    other = number_named(ask, command)
    if isinstance(other, CommandResult):
        return other
    visit, store = ask.visit, ask.visit.services.store.verdicts
    said = store.of_pair(visit.repository.id, visit.number, other)
    before = [one for one in said if one.command_id != ask.command_id]
    # Each person's word stands for itself: it holds when somebody else takes theirs back.
    if not any(same_login(one.actor, ask.login) for one in before):
        store.add(
            visit.repository.id,
            visit.number,
            other,
            UserVerdictKind.NOT,
            actor=ask.login,
            command_id=ask.command_id,
            now=visit.services.now(),
            details={"who": Role.TRIAGE if ask.may(Requirement.TRIAGE) else Role.AUTHOR},
        )
    if not before:
        refresh(visit, ask.issue)
        _tell_other(ask, other)
    return CommandResult(True, ask.replies.noted_different(other, bool(before)))


@visited
def judged(visit: IssueContext, event: IssueEvent) -> None:
    """Elsewhere it was decided, or taken back, that another issue and this one differ; its comment may show that."""
    follow(visit)


def follow(visit: IssueContext) -> None:
    """Bring an issue's comment up to date with what was decided elsewhere, unless the issue is to be left alone."""
    issue = visit.github.issue(visit.repo, visit.number)
    if not issue.locked and not visit.muted:
        refresh(visit, issue)


def _tell_other(ask: CommandRequest, other: int) -> None:
    """Queue work on the other issue where its comment shows this one, or may do so now: only earlier ones are shown.

    One that is not there yet may be about to be written, by a look that knows nothing of this.
    """
    visit = ask.visit
    kept = visit.services.store.comments.get(visit.repository.id, other)
    if other < visit.number or (kept is not None and kept.state is CommentState.DELETED):
        return
    event = own_issue_event(JUDGED, ask.installation, visit.repository, other, ask.login)
    # To look twice after a retry does no harm, so the id need not tell that it is the same work.
    visit.services.inbox.put(f"{JUDGED}-{uuid.uuid4()}", event)


def undo(ask: CommandRequest, command: Command) -> CommandResult:
    """`undo`: take back the last `not` or `of` on this issue; one's own, or for people with triage anybody's.

    As people read it, an `undo` is about what stands above it, whenever it came to stand there: it takes back the last
    decision of its own comment or an earlier one. So an old comment that is edited into an `undo`, or has one
    corrected, never takes back what was decided below it. One comment takes back one decision, however often it is
    edited.
    """
    visit, store = ask.visit, ask.visit.services.store.verdicts
    done = store.undone_by(visit.repository.id, ask.command_id)
    actor = None if ask.may(Requirement.TRIAGE) else ask.login
    verdict = done[0] if done else store.last(visit.repository.id, visit.number, actor, up_to=ask.command_id)
    there = None if done else last_elsewhere(ask, actor)
    if there and (verdict is None or there.undone_by == ask.command_id or there.at >= verdict.at):
        return take_back_elsewhere(ask, there, everybodys=actor is None)
    if verdict is None:
        return CommandResult(False, ask.replies.nothing_to_undo())
    if verdict.kind is UserVerdictKind.NOT:
        return _take_back_not(ask, verdict, everybodys=actor is None)
    if actor is not None:
        # They could close it then and may not open it now.
        return CommandResult(False, ask.replies.forbidden(COMMANDS_BY_NAME[CommandName.OF]))
    return _take_back_of(ask, verdict, again=bool(done))


def _take_back_not(ask: CommandRequest, verdict: UserVerdict, *, everybodys: bool) -> CommandResult:
    """Take back one's own word on a pair or, for people with triage, what anybody said of it up to here."""
    visit, store = ask.visit, ask.visit.services.store.verdicts
    repo_id, other = visit.repository.id, verdict.other if verdict.number == visit.number else verdict.number
    said = [one for one in store.of_pair(repo_id, visit.number, other) if one.command_id <= ask.command_id]
    for one in (verdict, *(said if everybodys else ())):
        store.undo(one.id, ask.command_id, visit.services.now())
    holds = bool(store.of_pair(repo_id, visit.number, other))
    if not holds:
        refresh(visit, ask.issue)
        _tell_other(ask, other)
    return CommandResult(True, ask.replies.undone_not(other, holds))


def _take_back_of(ask: CommandRequest, verdict: UserVerdict, *, again: bool) -> CommandResult:
    """Have the issue as it was before `of`; `again` is whether this very command has done so before."""
    visit = ask.visit
    # What was restored before may have been changed again, by a later `of` for instance.
    is_open = ask.issue.state == "open" if again else _restore(ask, verdict)
    visit.services.store.verdicts.undo(verdict.id, ask.command_id, visit.services.now())
    return CommandResult(True, ask.replies.undone_of(verdict.other, is_open))


def _restore(ask: CommandRequest, verdict: UserVerdict) -> bool:
    """Bring the issue back to what it was before `of`, unless somebody has changed it since; whether it is open now."""
    visit, issue, is_open = ask.visit, ask.issue, ask.issue.state == "open"
    # It may have been opened since, and closed in favour of another issue.
    if issue.state == "closed" and closed_for(ask) == verdict.other:
        is_open = not _closed_as_before(ask, verdict)
        if is_open:
            visit.github.reopen(visit.repo, visit.number)
    # One that a person has set since stays.
    if verdict.details["label"] and (label := set_by_us(visit, issue)):
        visit.github.remove_label(visit.repo, visit.number, label)
    return is_open


def _closed_as_before(ask: CommandRequest, verdict: UserVerdict) -> bool:
    """Close it for the reason for which it was closed before `of`; False where there was none that can be had again."""
    visit, was, original = ask.visit, verdict.details["was"], verdict.details.get("original")
    other_repo = verdict.details.get("original_repo")
    if was in _CLOSED:
        visit.github.close(visit.repo, visit.number, was)
        return True
    if original is not None:
        # The issue in favour of which it was closed may be gone by now, or out of sight.
        with suppress(NotFound, Invalid):
            before = visit.github.issue(RepoRef.parse(other_repo) if other_repo else visit.repo, original)
            visit.github.close_as_duplicate(visit.repo, visit.number, before.id)
            return True
    return False


def reject_elsewhere(ask: CommandRequest, command: Command) -> CommandResult:
    """`not OWNER/REPO#N`: never show that issue for this one again; the comment loses it at once.

    Only what was shown here is taken. Nothing is asked of the other repository, which may be private by now, so the
    answer tells nobody what is there.
    """
    visit, repo, number = ask.visit, command.repo, command.number or 0
    issue = name_key(f"{repo}#{number}")
    before = [one for one in _said_of(ask, issue) if one.command_id != ask.command_id]
    if not before and not _was_shown(ask, issue) and not stands_there(ask, visit.place.issue(number, repo)):
        return CommandResult(False, ask.replies.not_shown_here(number, repo))
    # Each person's word stands for itself: it holds when somebody else takes theirs back.
    if not any(same_login(one.actor, ask.login) for one in before):
        said = Rejection(visit.number, issue, ask.login, visit.services.now(), ask.command_id)
        visit.services.store.elsewhere.add(visit.repository.id, said)
    if not before:
        refresh(visit, ask.issue)
    return CommandResult(True, ask.replies.noted_different(number, bool(before), repo))


def _was_shown(ask: CommandRequest, issue: str) -> bool:
    """Whether a comment here has named it. What would have been named, in `mode: shadow`, nobody has seen."""
    looks = ask.visit.decisions()
    named = (one for look in looks if look.outcome.seen for one in look.evidence if one.shown)
    return any(name_key(f"{one.repo}#{one.number}") == issue for one in named)


def last_elsewhere(ask: CommandRequest, actor: str | None) -> Rejection | None:
    """What an `undo` takes back of these, or has taken back before it was tried again; of one person or of anybody."""
    said = ask.visit.services.store.elsewhere.of_issue(ask.visit.repository.id, ask.visit.number)
    if done := [one for one in said if one.undone_by == ask.command_id]:
        return done[-1]
    mine = [
        one
        for one in said
        if one.undone_by is None
        and one.command_id <= ask.command_id
        and (actor is None or same_login(one.actor, actor))
    ]
    return mine[-1] if mine else None


def take_back_elsewhere(ask: CommandRequest, rejection: Rejection, *, everybodys: bool) -> CommandResult:
    """Take back one's own word or, for people with triage, what anybody said of that issue up to here."""
    visit, store = ask.visit, ask.visit.services.store.elsewhere
    said = [one for one in _said_of(ask, rejection.issue) if one.command_id <= ask.command_id]
    for one in said if everybodys else [rejection]:
        store.undo(visit.repository.id, one, ask.command_id, visit.services.now())
    holds = bool(_said_of(ask, rejection.issue))
    if not holds:
        refresh(visit, ask.issue)
    repo, _, number = rejection.issue.rpartition("#")
    return CommandResult(True, ask.replies.undone_not(int(number), holds, repo))


def _said_of(ask: CommandRequest, issue: str) -> list[Rejection]:
    """Who said so and holds to it."""
    said = ask.visit.services.store.elsewhere.of_issue(ask.visit.repository.id, ask.visit.number)
    return [one for one in said if one.issue == issue and one.undone_by is None]
