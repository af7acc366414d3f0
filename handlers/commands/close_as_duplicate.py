"""The command `of #N`: close an issue as a duplicate (C4).

#N may itself be a duplicate, with a chain of originals. The root, the new original, is the chain's last issue if that
issue is open, else #N itself. #N may be closed, because a new report often repeats a fixed problem. The root must be
older than the command's issue, so duplicates cannot form a circle, even if two commands run at once.
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
from handlers.suggestions import add_label

logger = logging.getLogger(__name__)

# The longest chain to follow. Each link costs two requests, and real chains are far shorter.
_LINKS_MAX = 20


def close_as_duplicate(request: CommandRequest, command: Command) -> CommandResult:
    """`of #N`: close the issue as a duplicate of #N, or of the original of #N."""
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
    verdict = _stored_verdict(request, root)
    if verdict is None:
        before = _original_now(request)
        if _own_number(request.context, before) == root.number:
            return CommandResult(True, request.say.of_already(issue=request.context.links.issue(root.number)))
        verdict = _store_verdict(request, root, before)
    _carry_out(request, root, verdict)
    return CommandResult(True, replies.closed_for(named.number, root.number, closed=root.state == "closed"))


def _carry_out(request: CommandRequest, root: Issue, verdict: UserVerdict) -> None:
    github, repo, number = request.context.github, request.context.repo, request.context.number
    store = request.context.services.store.verdicts
    try:
        github.close_as_duplicate(repo, number, root.id)
    except GitHubError:
        store.remove(verdict.id)
        raise
    for stored in _verdicts_by_comment(request):
        if stored.other != root.number:
            # The comment named another issue, and was edited since.
            store.remove(stored.id)
    label = verdict.details["label"]
    # An earlier attempt may have added the label.
    if label and not duplicate_label(request.issue.labels):
        try:
            add_label(request.context, label)
        except GitHubError as refusal:
            # The issue is closed, as the person asked; the label is an extra.
            logger.warning("no label on %s#%d: %s", repo, number, refusal)


def _chain(context: IssueContext, named: Issue) -> list[Issue]:
    """The named issue and its chain of originals in the repository, at most up to the command's issue."""
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
    """The original of the closed duplicate `number`, by GitHub or else the last `of` that holds.

    GraphQL can fail permanently for a single repository. In that case only the store knows the original.
    """
    try:
        original = context.github.duplicate_of(context.repo, number)
    except Unavailable as failure:
        logger.warning("%s#%d: GitHub does not tell the original of this duplicate: %s", context.repo, number, failure)
        original = None
    if original is None and (stored := context.services.store.verdicts.original(context.repository.id, number)):
        return IssueRef(context.repo, stored)
    return original


def _own_number(context: IssueContext, original: IssueRef | None) -> int | None:
    """The original's number if it belongs to this repository, else None."""
    return original.number if original and original.repo.key == context.repo.key else None


def _original_now(request: CommandRequest) -> IssueRef | None:
    return _original(request.context, request.issue.number) if request.issue.state_reason == "duplicate" else None


def closed_in_favour_of(request: CommandRequest) -> int | None:
    """The original in this repository, if the command's issue is already closed as a duplicate."""
    return _own_number(request.context, _original_now(request))


def _verdicts_by_comment(request: CommandRequest) -> list[UserVerdict]:
    """The `of` verdicts stored for this comment: by an earlier attempt, or before the comment was edited."""
    store = request.context.services.store.verdicts
    verdicts = store.by_command(request.context.repository.id, request.command_id)
    return [verdict for verdict in verdicts if verdict.kind is UserVerdictKind.OF and verdict.undone_at is None]


def _stored_verdict(request: CommandRequest, root: Issue) -> UserVerdict | None:
    """The verdict that an earlier attempt at this command has stored."""
    return next((verdict for verdict in _verdicts_by_comment(request) if verdict.other == root.number), None)


def _store_verdict(request: CommandRequest, root: Issue, before: IssueRef | None) -> UserVerdict:
    """Store the verdict, and the state that `undo` restores, before changing anything on GitHub.

    `before` is the issue's present original, if any. If this comment set `before` and was then edited, copy
    the state from the comment's earlier verdict. Then `undo` restores the state before both commands.
    """
    context, issue = request.context, request.issue
    own_original, closed_as = _own_number(context, before), issue.state_reason or "completed"
    details = {
        "was": "open" if issue.state == "open" else closed_as,
        "original": before and before.number,
        # None means this repository. Its name is not stored, because the name can change.
        "original_repo": str(before.repo) if before and own_original is None else None,
        "label": None if duplicate_label(issue.labels) else duplicate_label(context.github.labels(context.repo)),
        "who": request.role,
    }
    earlier = [past.details for past in _verdicts_by_comment(request) if past.other == own_original]
    context.services.store.verdicts.add(
        context.repository.id,
        context.number,
        root.number,
        UserVerdictKind.OF,
        actor=request.login,
        command_id=request.command_id,
        now=context.services.now(),
        details=earlier[0] if earlier else details,
    )
    verdict = _stored_verdict(request, root)
    assert verdict is not None, "it has just been stored"
    return verdict
