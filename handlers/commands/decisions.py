"""`not` and `undo`, by which people decide about a pair and take that back, and `mute` and `unmute` (C4).

`not` also takes issues of other repositories, which a comment shows if `siblings` are searched (H6). Each command can
start twice for one comment, after a crash or a time-out, so every step can be repeated. The other issue's comment is
updated by a job of its own, in order with whatever else happens on that issue.
"""

from __future__ import annotations

import uuid
from contextlib import suppress

from bot.conversation.commands.table import COMMANDS_BY_NAME, Command, CommandName, Requirement
from bot.deliveries.events import JUDGED, IssueEvent, own_issue_event
from bot.domain.entities import RepoRef, name_key, same_login
from bot.domain.errors import Invalid, NotFound
from bot.domain.feedback import Rejection, UserVerdict, UserVerdictKind
from bot.storage import CommentState
from handlers.advisory_comment import refresh
from handlers.commands.close_as_duplicate import closed_in_favour_of
from handlers.commands.request import CommandRequest, CommandResult, comment_links_to, number_named
from handlers.context import IssueContext, with_context
from handlers.suggestions import label_set_by_bot

# GitHub's reasons for closing that `of` may have replaced.
_CLOSED = ("completed", "not_planned")


def reject(request: CommandRequest, command: Command) -> CommandResult:
    """`not #N`: never show this pair again, on either of the two; the comment loses it at once.

    #N can be a pull request or a discussion too.
    """
    if command.repo:
        return _reject_elsewhere(request, command)
    other = number_named(request, command)
    if isinstance(other, CommandResult):
        return other
    context, store = request.context, request.context.services.store.verdicts
    said = store.of_pair(context.repository.id, context.number, other)
    before = [one for one in said if one.command_id != request.command_id]
    # Each person's word holds when somebody else takes theirs back.
    if not any(same_login(one.actor, request.login) for one in before):
        store.add(
            context.repository.id,
            context.number,
            other,
            UserVerdictKind.NOT,
            actor=request.login,
            command_id=request.command_id,
            now=context.services.now(),
            details={"who": request.role},
        )
    if not before:
        refresh(context)
        _queue_other(request, other)
    return CommandResult(True, request.replies.noted_different(other, bool(before)))


@with_context
def pair_judged(context: IssueContext, event: IssueEvent) -> None:
    """On another issue it was decided, or taken back, that this one differs; this one's comment may show the other."""
    follow(context)


def follow(context: IssueContext) -> None:
    """Bring the comment up to date with decisions made elsewhere, unless the issue is locked or muted."""
    if not context.issue.locked and not context.muted:
        refresh(context)


def _queue_other(request: CommandRequest, other: int) -> None:
    """Queue an update of the other issue's comment if that can show this issue: only earlier ones are shown.

    If it has no comment yet, a look that knows nothing of this decision may be about to write one.
    """
    context = request.context
    kept = context.services.store.comments.get(context.repository.id, other)
    if other < context.number or (kept is not None and kept.state is CommentState.DELETED):
        return
    event = own_issue_event(JUDGED, context.installation, context.repository, other, request.login)
    # Looking twice after a retry does no harm.
    context.services.inbox.put(f"{JUDGED}-{uuid.uuid4()}", event)


def undo(request: CommandRequest, command: Command) -> CommandResult:
    """`undo`: take back the last `not` or `of` on this issue; one's own, or with triage access anybody's.

    It takes back the last decision of its own comment or an earlier one, as people read it. So an old comment that is
    edited into an `undo` never takes back what was decided below it. One comment takes back one decision, however
    often it is edited.
    """
    context, store = request.context, request.context.services.store.verdicts
    done = store.undone_by(context.repository.id, request.command_id)
    actor = None if request.may(Requirement.TRIAGE) else request.login
    verdict = done[0] if done else store.last(context.repository.id, context.number, actor, up_to=request.command_id)
    there = None if done else _last_elsewhere(request, actor)
    if there and (verdict is None or there.undone_by == request.command_id or there.at >= verdict.at):
        return _undo_elsewhere(request, there, everybodys=actor is None)
    if verdict is None:
        return request.refuse(request.say.undo_nothing())
    if verdict.kind is UserVerdictKind.NOT:
        return _undo_not(request, verdict, everybodys=actor is None)
    if actor is not None:
        # They could close it then, and may not reopen it now.
        return request.refuse(request.replies.forbidden(COMMANDS_BY_NAME[CommandName.OF]))
    return _undo_of(request, verdict, again=bool(done))


def _undo_not(request: CommandRequest, verdict: UserVerdict, *, everybodys: bool) -> CommandResult:
    """Take back one's own word on a pair or, with triage access, what anybody said of it up to here."""
    context, store = request.context, request.context.services.store.verdicts
    repo_id, other = context.repository.id, verdict.other if verdict.number == context.number else verdict.number
    said = [one for one in store.of_pair(repo_id, context.number, other) if one.command_id <= request.command_id]
    for one in (verdict, *(said if everybodys else ())):
        store.undo(one.id, request.command_id, context.services.now())
    holds = bool(store.of_pair(repo_id, context.number, other))
    if not holds:
        refresh(context)
        _queue_other(request, other)
    return CommandResult(True, request.replies.undone_not(other, holds))


def _undo_of(request: CommandRequest, verdict: UserVerdict, *, again: bool) -> CommandResult:
    """Restore the issue as it was before `of`, unless this very command did so before (`again`)."""
    is_open = request.issue.state == "open" if again else _restore(request, verdict)
    services = request.context.services
    services.store.verdicts.undo(verdict.id, request.command_id, services.now())
    return CommandResult(True, request.replies.undone_of(verdict.other, is_open))


def _restore(request: CommandRequest, verdict: UserVerdict) -> bool:
    """Undo what `of` did on GitHub, unless somebody has changed it since; returns whether the issue is open now."""
    context, is_open = request.context, request.issue.state == "open"
    # It may have been reopened since, and closed in favour of another issue.
    if not is_open and closed_in_favour_of(request) == verdict.other:
        is_open = not _close_as_before(request, verdict)
        if is_open:
            context.github.reopen(context.repo, context.number)
    # A label that a person has set since stays.
    if verdict.details["label"] and (label := label_set_by_bot(context)):
        context.github.remove_label(context.repo, context.number, label)
    return is_open


def _close_as_before(request: CommandRequest, verdict: UserVerdict) -> bool:
    """Close the issue as it was closed before `of`; False if it was open, or that cannot be restored."""
    github, repo, number = request.context.github, request.context.repo, request.context.number
    was, original = verdict.details["was"], verdict.details.get("original")
    other_repo = verdict.details.get("original_repo")
    if was in _CLOSED:
        github.close(repo, number, was)
        return True
    if original is not None:
        # That issue may be gone or hidden by now.
        with suppress(NotFound, Invalid):
            before = github.issue(RepoRef.parse(other_repo) if other_repo else repo, original)
            github.close_as_duplicate(repo, number, before.id)
            return True
    return False


def _reject_elsewhere(request: CommandRequest, command: Command) -> CommandResult:
    """`not OWNER/REPO#N`: never show that issue on this one again; the comment loses it at once.

    Only an issue that was shown here is accepted. The other repository, which may be private by now, is not asked, so
    the answer reveals nothing of it.
    """
    context, repo, number = request.context, command.repo, command.number or 0
    issue = name_key(f"{repo}#{number}")
    before = [one for one in _rejections_of(request, issue) if one.command_id != request.command_id]
    if (
        not before
        and not _was_shown(context, issue)
        and not comment_links_to(request, context.links.issue(number, repo))
    ):
        return request.refuse(request.say.not_shown_here(issue=context.links.issue(number, repo)))
    if not any(same_login(one.actor, request.login) for one in before):
        said = Rejection(context.number, issue, request.login, context.services.now(), request.command_id)
        context.services.store.elsewhere.add(context.repository.id, said)
    if not before:
        refresh(context)
    return CommandResult(True, request.replies.noted_different(number, bool(before), repo))


def _was_shown(context: IssueContext, issue: str) -> bool:
    """Whether a comment here has named it. In `mode: shadow` nobody has seen any."""
    seen = (one for look in context.decisions() if look.outcome.seen for one in look.evidence if one.shown)
    return any(name_key(f"{one.repo}#{one.number}") == issue for one in seen)


def _last_elsewhere(request: CommandRequest, actor: str | None) -> Rejection | None:
    """The rejection that this `undo` takes back, or took back before a retry; of one person, or of anybody."""
    said = request.context.services.store.elsewhere.of_issue(request.context.repository.id, request.context.number)
    if done := [one for one in said if one.undone_by == request.command_id]:
        return done[-1]
    mine = [
        one
        for one in said
        if one.undone_by is None
        and one.command_id <= request.command_id
        and (actor is None or same_login(one.actor, actor))
    ]
    return mine[-1] if mine else None


def _undo_elsewhere(request: CommandRequest, rejection: Rejection, *, everybodys: bool) -> CommandResult:
    """Take back one's own word or, with triage access, what anybody said of that issue up to here."""
    context, store = request.context, request.context.services.store.elsewhere
    said = [one for one in _rejections_of(request, rejection.issue) if one.command_id <= request.command_id]
    for one in said if everybodys else [rejection]:
        store.undo(context.repository.id, one, request.command_id, context.services.now())
    holds = bool(_rejections_of(request, rejection.issue))
    if not holds:
        refresh(context)
    repo, _, number = rejection.issue.rpartition("#")
    return CommandResult(True, request.replies.undone_not(int(number), holds, repo))


def _rejections_of(request: CommandRequest, issue: str) -> list[Rejection]:
    """The rejections of an issue of another repository that hold."""
    said = request.context.services.store.elsewhere.of_issue(request.context.repository.id, request.context.number)
    return [one for one in said if one.issue == issue and one.undone_by is None]


def mute(request: CommandRequest, command: Command) -> CommandResult:
    """`mute`: skip this issue from now on; commands on it still work."""
    context, muted = request.context, request.context.services.store.muted
    by = muted.by(context.repository.id, context.number)
    # If they muted it themselves, this may be the same command after a crash, and is answered as at first.
    already = by is not None and not same_login(by, request.login)
    muted.set(context.repository.id, context.number, request.login, context.services.now())
    return CommandResult(True, request.say.muted_already() if already else request.say.muted())


def unmute(request: CommandRequest, command: Command) -> CommandResult:
    """`unmute`: look at this issue again when it changes, and update its comment with what was decided meanwhile.

    The comment comes first: if that fails, the command runs once more and is answered as it would have been.
    """
    context, already = request.context, not request.context.muted
    if not already:
        refresh(context)
    context.services.store.muted.clear(context.repository.id, context.number)
    return CommandResult(True, request.say.unmuted_already() if already else request.say.unmuted())
