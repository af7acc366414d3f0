"""`of`: close an issue as a duplicate of the open issue that the named one's chain leads to (C4).

If the chain leads to no open issue, the named one is taken, since a new report has most often been fixed already. Each
command leads from an issue to an older one, so no circle can come out, even of commands at the same time.
"""

from __future__ import annotations

import logging

from bot.conversation.commands.table import Command
from bot.domain.entities import Issue, IssueRef
from bot.domain.errors import GitHubError, NotFound, Unavailable
from bot.domain.feedback import UserVerdict, UserVerdictKind
from bot.github.feedback import duplicate_label
from handlers.commands.request import CommandRequest, CommandResult, issue_named
from handlers.context import IssueContext

logger = logging.getLogger(__name__)

# Links of a chain, each two requests. People make no longer ones.
_LINKS_MAX = 20


def close_as_duplicate(request: CommandRequest, command: Command) -> CommandResult:
    """`of #N`: close the issue in favour of #N, or of the issue that #N itself is a duplicate of."""
    named = issue_named(request, command)
    if isinstance(named, CommandResult):
        return named
    issue, replies = request.issue, request.replies
    chain = _chain(request.context, named)
    root = chain[-1] if chain[-1].state == "open" else named
    if any(one.number == issue.number for one in chain):
        return request.refuse(request.say.of_circle(issue=request.context.links.issue(named.number)))
    if (root.created_at, root.number) > (issue.created_at, issue.number):
        newer = request.say.of_newer(issue=request.context.links.issue(root.number))
        return request.refuse(replies.refused_root(named.number, root.number, newer))
    verdict = _stored(request, root)
    if verdict is None:
        before = _original_now(request)
        if _own_number(request.context, before) == root.number:
            return CommandResult(True, request.say.of_already(issue=request.context.links.issue(root.number)))
        verdict = _store(request, root, before)
    _carry_out(request, root, verdict)
    return CommandResult(True, replies.closed_for(named.number, root.number, closed=root.state == "closed"))


def _carry_out(request: CommandRequest, root: Issue, verdict: UserVerdict) -> None:
    """Close the issue in favour of the root, and label it."""
    github, repo, number = request.context.github, request.context.repo, request.context.number
    store = request.context.services.store.verdicts
    try:
        github.close_as_duplicate(repo, number, root.id)
    except GitHubError:
        store.remove(verdict.id)
        raise
    for one in _stored_by_comment(request):
        if one.other != root.number:
            # The comment said so before it was edited.
            store.remove(one.id)
    if label := verdict.details["label"]:
        try:
            github.add_labels(repo, number, [label])
        except GitHubError as refusal:
            # The issue is closed in favour of the other, which is what was asked for.
            logger.warning("no label on %s#%d: %s", repo, number, refusal)


def _chain(context: IssueContext, named: Issue) -> list[Issue]:
    """The named issue, the one that it is a duplicate of, and so on, within this repository.

    It ends at the command's own issue, before it repeats itself, and at an issue whose original cannot be seen.
    """
    chain = [named]
    while chain[-1].state_reason == "duplicate" and chain[-1].number != context.number and len(chain) <= _LINKS_MAX:
        number = _own_number(context, _original(context, chain[-1].number))
        if number is None or number in {issue.number for issue in chain}:
            break
        try:
            chain.append(context.github.issue(context.repo, number))
        except NotFound:
            break
    return chain


def _original(context: IssueContext, number: int) -> IssueRef | None:
    """The issue in favour of which that one was closed, by GitHub or else by an `of` in the store.

    GraphQL can fail over one repository for good, and then GitHub cannot say.
    """
    try:
        original = context.github.duplicate_of(context.repo, number)
    except Unavailable as failure:
        logger.warning("%s#%d: of what it is a duplicate GitHub does not tell: %s", context.repo, number, failure)
        original = None
    if original is None and (stored := context.services.store.verdicts.original(context.repository.id, number)):
        return IssueRef(context.repo, stored)
    return original


def _own_number(context: IssueContext, original: IssueRef | None) -> int | None:
    """The number of an issue of this repository; None for none, and for another repository's."""
    return original.number if original and original.repo.key == context.repo.key else None


def _original_now(request: CommandRequest) -> IssueRef | None:
    return _original(request.context, request.issue.number) if request.issue.state_reason == "duplicate" else None


def closed_in_favour_of(request: CommandRequest) -> int | None:
    """The issue of this repository in favour of which the command's own is closed already."""
    return _own_number(request.context, _original_now(request))


def _stored_by_comment(request: CommandRequest) -> list[UserVerdict]:
    """What this comment has closed the issue for: in an earlier attempt, or before it was edited."""
    store = request.context.services.store.verdicts
    taken = store.by_command(request.context.repository.id, request.command_id)
    return [one for one in taken if one.kind is UserVerdictKind.OF and one.undone_at is None]


def _stored(request: CommandRequest, root: Issue) -> UserVerdict | None:
    """What an earlier attempt at this command has stored."""
    return next((one for one in _stored_by_comment(request) if one.other == root.number), None)


def _store(request: CommandRequest, root: Issue, before: IssueRef | None) -> UserVerdict:
    """Store the decision, with what `undo` needs, before GitHub is asked to change anything.

    `before` is the issue in favour of which this one is closed so far. If this very comment did that before it was
    edited, `undo` restores what was before both.
    """
    context, issue = request.context, request.issue
    here = _own_number(context, before)
    details = {
        "was": issue.state if issue.state == "open" else issue.state_reason or "completed",
        "original": before and before.number,
        # This repository's own name can change.
        "original_repo": str(before.repo) if before and here is None else None,
        "label": None if duplicate_label(issue.labels) else duplicate_label(context.github.labels(context.repo)),
        "who": request.role,
    }
    context.services.store.verdicts.add(
        context.repository.id,
        context.number,
        root.number,
        UserVerdictKind.OF,
        actor=request.login,
        command_id=request.command_id,
        now=context.services.now(),
        details=next((one.details for one in _stored_by_comment(request) if one.other == here), details),
    )
    verdict = _stored(request, root)
    assert verdict is not None, "it has just been stored"
    return verdict
