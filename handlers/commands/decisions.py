"""The commands `not`, `undo`, `mute` and `unmute` (C4).

`not` rejects a pair of issues: the command's issue and #N. #N may belong to another repository if the bot's comment on
the command's issue has shown #N (H6). After a crash or a time-out a command runs again, so every step must be
repeatable. A separate job updates the comment on #N. The queue runs this job and the events of #N one after another.
"""

from __future__ import annotations

import uuid
from contextlib import suppress

from bot.conversation.commands.table import COMMANDS_BY_NAME, Command, CommandName, Requirement
from bot.deliveries.events import JUDGED, IssueEvent, own_issue_event
from bot.domain.entities import RepoRef, name_key, same_login
from bot.domain.errors import Invalid, NotFound
from bot.domain.feedback import UserVerdict, UserVerdictKind
from bot.storage import CommentState
from handlers.advisory_comment import refresh
from handlers.commands.close_as_duplicate import closed_in_favour_of
from handlers.commands.request import CommandRequest, CommandResult, comment_links_to, number_named
from handlers.context import IssueContext, with_context
from handlers.suggestions import remove_own_label

# GitHub's close reasons that name no original. `undo` can close an issue with them again.
_CLOSE_REASONS = ("completed", "not_planned")


def reject(request: CommandRequest, command: Command) -> CommandResult:
    """`not #N`: never show this pair again, on either issue, and remove #N from the comment at once.

    #N can be a pull request or a discussion too. With `not OWNER/REPO#N`, it can be an issue of another repository.
    """
    other = _number_elsewhere(request, command) if command.repo else number_named(request, command)
    if isinstance(other, CommandResult):
        return other
    # For an issue of another repository, `number` is 0 and `issue` is `owner/repo#N`.
    number, issue = (0, name_key(f"{command.repo}#{other}")) if command.repo else (other, "")
    context, store = request.context, request.context.services.store.verdicts
    verdicts = store.of_pair(context.repository.id, context.number, number, issue)
    before = [verdict for verdict in verdicts if verdict.command_id != request.command_id]
    # Store each person's verdict: if one person undoes a verdict, the verdicts of other people stay.
    if not any(same_login(verdict.actor, request.login) for verdict in before):
        store.add(
            context.repository.id,
            context.number,
            number,
            UserVerdictKind.NOT,
            actor=request.login,
            command_id=request.command_id,
            now=context.services.now(),
            details={"who": request.role},
            issue=issue,
        )
    if not before:
        refresh(context)
        _queue_other(request, number)
    return CommandResult(True, request.replies.noted_different(other, bool(before), command.repo))


def _number_elsewhere(request: CommandRequest, command: Command) -> int | CommandResult:
    """The number of another repository's issue, or a refusal if no comment here has shown it.

    Ask GitHub nothing about that repository, which may be private by now: reveal nothing new.
    """
    context, number = request.context, command.number or 0
    issue, link = name_key(f"{command.repo}#{number}"), context.links.issue(number, command.repo)
    rejected = context.services.store.verdicts.of_pair(context.repository.id, context.number, 0, issue)
    if rejected or _was_shown(context, issue) or comment_links_to(request, link):
        return number
    return request.refuse(request.say.not_shown_here(issue=link))


def _was_shown(context: IssueContext, issue: str) -> bool:
    """Whether a comment here has shown the issue. Decisions in `mode: shadow` do not count: they posted no comment."""
    shown = [item for past in context.decisions() if past.outcome.seen for item in past.evidence if item.shown]
    return any(name_key(f"{item.repo}#{item.number}") == issue for item in shown)


@with_context
def pair_judged(context: IssueContext, event: IssueEvent) -> None:
    """Update this issue's comment: a `not` or `undo` on another issue concerned the pair of both issues."""
    follow(context)


def follow(context: IssueContext) -> None:
    """Apply decisions made on other issues to this issue's comment, unless this issue is locked or muted."""
    if not context.issue.locked and not context.muted:
        refresh(context)


def _queue_other(request: CommandRequest, other: int) -> None:
    """Queue an update of the other issue's comment if that comment can list this issue.

    A comment lists only earlier issues. `other` is 0 for an issue of another repository, which gets no update. Queue
    the update even without a comment: a check that began before this decision may still post a comment.
    """
    context = request.context
    stored = context.services.store.comments.get(context.repository.id, other)
    if other < context.number or (stored is not None and stored.state is CommentState.DELETED):
        return
    event = own_issue_event(JUDGED, context.installation, context.repository, other, request.login)
    # After a retry the bot looks twice, which does no harm.
    context.services.inbox.put(f"{JUDGED}-{uuid.uuid4()}", event)


def undo(request: CommandRequest, command: Command) -> CommandResult:
    """`undo`: take back the person's own last `not` or `of` on this issue. A triager takes back the last by anybody.

    People read from top to bottom, so only decisions in the same comment or in earlier comments count. Editing an old
    comment into an `undo` never affects the comments below. One comment takes back one decision, however often the
    comment is edited.
    """
    context, store = request.context, request.context.services.store.verdicts
    undone = store.undone_by(context.repository.id, request.command_id)
    actor = None if request.may(Requirement.TRIAGE) else request.login
    verdict = (
        undone[0] if undone else store.last(context.repository.id, context.number, actor, up_to=request.command_id)
    )
    if verdict is None:
        return request.refuse(request.say.undo_nothing())
    if verdict.kind is UserVerdictKind.NOT:
        return _undo_not(request, verdict, everybodys=actor is None)
    of_command = COMMANDS_BY_NAME[CommandName.OF]
    if not request.may(of_command.who):  # The person has lost triage access since.
        return request.refuse(request.replies.forbidden(of_command))
    return _undo_of(request, verdict, again=bool(undone))


def _undo_not(request: CommandRequest, verdict: UserVerdict, *, everybodys: bool) -> CommandResult:
    """Take back the person's own verdict on a pair; with `everybodys`, all verdicts on it up to this comment."""
    context, store = request.context, request.context.services.store.verdicts
    repo_id, other = context.repository.id, (verdict.other if verdict.number == context.number else verdict.number)
    pair = store.of_pair(repo_id, context.number, other, verdict.issue)
    earlier = [past for past in pair if past.command_id <= request.command_id]
    for past in [verdict, *earlier] if everybodys else [verdict]:
        store.undo(past.id, request.command_id, context.services.now())
    still_rejected = bool(store.of_pair(repo_id, context.number, other, verdict.issue))
    if not still_rejected:
        refresh(context)
        _queue_other(request, other)
    # If the other issue is of this repository, `verdict.issue` is empty, and so are `repo` and `number`.
    repo, _, number = verdict.issue.rpartition("#")
    return CommandResult(True, request.replies.undone_not(int(number or other), still_rejected, repo))


def _undo_of(request: CommandRequest, verdict: UserVerdict, *, again: bool) -> CommandResult:
    """Restore the issue as it was before `of`, unless an earlier attempt at this `undo` did so (`again`)."""
    is_open = request.issue.state == "open" if again else _restore(request, verdict)
    services = request.context.services
    services.store.verdicts.undo(verdict.id, request.command_id, services.now())
    return CommandResult(True, request.replies.undone_of(verdict.other, is_open))


def _restore(request: CommandRequest, verdict: UserVerdict) -> bool:
    """Undo what `of` did on GitHub, except for what people have changed since. Returns whether the issue is open."""
    context, is_open = request.context, request.issue.state == "open"
    # People may have reopened the issue since, or closed it as a duplicate of another issue.
    if not is_open and closed_in_favour_of(request) == verdict.other:
        is_open = not _close_as_before(request, verdict)
        if is_open:
            context.github.reopen(context.repo, context.number)
    if verdict.details["label"]:
        remove_own_label(context)
    return is_open


def _close_as_before(request: CommandRequest, verdict: UserVerdict) -> bool:
    """Close the issue as it was closed before `of`. Returns False if the issue was open, or the original is gone."""
    github, repo, number = request.context.github, request.context.repo, request.context.number
    was, original = verdict.details["was"], verdict.details.get("original")
    other_repo = verdict.details.get("original_repo")
    if was in _CLOSE_REASONS:
        github.close(repo, number, was)
        return True
    if original is not None:
        # The original may be gone or hidden by now.
        with suppress(NotFound, Invalid):
            original_issue = github.issue(RepoRef.parse(other_repo) if other_repo else repo, original)
            github.close_as_duplicate(repo, number, original_issue.id)
            return True
    return False


def mute(request: CommandRequest, command: Command) -> CommandResult:
    """`mute`: skip this issue from now on; commands on it still work."""
    context, muted = request.context, request.context.services.store.muted
    muted_by = muted.by(context.repository.id, context.number)
    # If the same person muted the issue, this may be a retry after a crash: reply as the first time.
    already = muted_by is not None and not same_login(muted_by, request.login)
    muted.set(context.repository.id, context.number, request.login, context.services.now())
    return CommandResult(True, request.say.muted_already() if already else request.say.muted())


def unmute(request: CommandRequest, command: Command) -> CommandResult:
    """`unmute`: stop skipping this issue, and update its comment with people's decisions since the `mute`.

    Update the comment before clearing the mute: if the update fails, the retry still finds the issue muted.
    """
    context, already = request.context, not request.context.muted
    if not already:
        refresh(context)
    context.services.store.muted.clear(context.repository.id, context.number)
    return CommandResult(True, request.say.unmuted_already() if already else request.say.unmuted())
