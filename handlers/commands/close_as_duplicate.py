"""`of`: close an issue as GitHub's own kind of duplicate, of the open issue that its chain leads to (C4); where that
leads to none, of the one that was named, since what is reported again has most often been fixed already.

No circle can come out of commands, given at the same time or not: each goes from an issue to an older one.
"""

from __future__ import annotations

import logging

from bot.conversation.commands.table import Command, Requirement
from bot.domain.entities import Issue, IssueRef
from bot.domain.errors import GitHubError, NotFound, Unavailable
from bot.domain.feedback import Role, UserVerdict, UserVerdictKind
from bot.github.labels import duplicate_label
from handlers.commands.request import CommandRequest, CommandResult, issue_named

logger = logging.getLogger(__name__)

# Links of a chain. A longer one was not made by people; each link costs two requests.
_LINKS_MAX = 20


def close_as_duplicate(ask: CommandRequest, command: Command) -> CommandResult:
    """`of #N`: close the issue in favour of #N, or of what #N itself is a duplicate of."""
    named = issue_named(ask, command)
    if isinstance(named, CommandResult):
        return named
    chain = _chain(ask, named)
    root = chain[-1] if chain[-1].state == "open" else named
    if any(issue.number == ask.visit.number for issue in chain):
        return CommandResult(False, ask.replies.refused_circle(named.number))
    if (root.created_at, root.number) > (ask.issue.created_at, ask.issue.number):
        newer = ask.replies.refused_newer(root.number)
        return CommandResult(False, ask.replies.refused_root(named.number, root.number, newer))
    verdict = _decided(ask, root)
    if verdict is None:
        before = _closed_for(ask)
        if _here(ask, before) == root.number:
            return CommandResult(True, ask.replies.closed_already(root.number))
        verdict = _decide(ask, root, before)
    _carry_out(ask, root, verdict)
    return CommandResult(True, ask.replies.closed_for(named.number, root.number, closed=root.state == "closed"))


def _carry_out(ask: CommandRequest, root: Issue, verdict: UserVerdict) -> None:
    """Close the issue in favour of the root, and give it the label, as was decided."""
    visit = ask.visit
    try:
        visit.github.close_as_duplicate(visit.repo, visit.number, root.id)
    except GitHubError:
        visit.services.store.verdicts.remove(verdict.id)
        raise
    for one in _held(ask):
        if one.other != root.number:
            # What the comment said before it was edited has become this.
            visit.services.store.verdicts.remove(one.id)
    if label := verdict.details["label"]:
        try:
            visit.github.add_labels(visit.repo, visit.number, [label])
        except GitHubError as refusal:
            # The issue is closed and tied to the other one, which is what was asked for.
            logger.warning("no label on %s#%d: %s", visit.repo, visit.number, refusal)


def _chain(ask: CommandRequest, named: Issue) -> list[Issue]:
    """The issue that was named, what that is a duplicate of, and so on, as far as the chain stays in this repository.

    It ends early where it comes back to the issue of the command, where it turns in a circle of its own, and where a
    link of it cannot be seen; its last issue is then closed as a duplicate.
    """
    chain = [named]
    while chain[-1].state_reason == "duplicate" and chain[-1].number != ask.visit.number and len(chain) <= _LINKS_MAX:
        number = _here(ask, _original(ask, chain[-1].number))
        if number is None or number in {issue.number for issue in chain}:
            break
        try:
            chain.append(ask.visit.github.issue(ask.visit.repo, number))
        except NotFound:
            break
    return chain


def _original(ask: CommandRequest, number: int) -> IssueRef | None:
    """What an issue was closed in favour of, by whomever; where GitHub cannot say that leaves what `of` has stored.

    GraphQL can fail over one repository for good, and whoever asked shall not wait for an answer in vain.
    """
    visit = ask.visit
    try:
        original = visit.github.duplicate_of(visit.repo, number)
    except Unavailable as failure:
        logger.warning("%s#%d: of what it is a duplicate GitHub does not tell: %s", visit.repo, number, failure)
        original = None
    if original is None and (stored := visit.services.store.verdicts.original(visit.repository.id, number)):
        return IssueRef(visit.repo, stored)
    return original


def _here(ask: CommandRequest, original: IssueRef | None) -> int | None:
    """The number of an issue of this repository; None where there is none, or where it is another repository's."""
    return original.number if original and original.repo.key == ask.visit.repo.key else None


def _closed_for(ask: CommandRequest) -> IssueRef | None:
    return _original(ask, ask.visit.number) if ask.issue.state_reason == "duplicate" else None


def closed_for(ask: CommandRequest) -> int | None:
    """In favour of which issue of this repository the command's own is closed already."""
    return _here(ask, _closed_for(ask))


def _held(ask: CommandRequest) -> list[UserVerdict]:
    """What this comment has closed the issue for, and holds: by an earlier attempt, or before it was edited."""
    taken = ask.visit.services.store.verdicts.by_command(ask.visit.repository.id, ask.command_id)
    return [one for one in taken if one.kind is UserVerdictKind.OF and one.undone_at is None]


def _decided(ask: CommandRequest, root: Issue) -> UserVerdict | None:
    """What an earlier attempt at this command has stored."""
    return next((one for one in _held(ask) if one.other == root.number), None)


def _decide(ask: CommandRequest, root: Issue, before: IssueRef | None) -> UserVerdict:
    """Store the decision before GitHub is asked for anything, with what taking it back must know.

    `before` is the issue in favour of which this one was closed until now. If that was by this very comment, before it
    was edited, taking it back leads to what was before both.
    """
    visit, issue = ask.visit, ask.issue
    label = duplicate_label(visit.github.labels(visit.repo))
    here = _here(ask, before)
    details = {
        "was": issue.state if issue.state == "open" else issue.state_reason or "completed",
        "original": before and before.number,
        # A name is kept of another repository alone: this one can be given a new one.
        "original_repo": str(before.repo) if before and here is None else None,
        "label": None if duplicate_label(issue.labels) else label,
        "who": Role.TRIAGE if ask.may(Requirement.TRIAGE) else Role.AUTHOR,
    }
    visit.services.store.verdicts.add(
        visit.repository.id,
        visit.number,
        root.number,
        UserVerdictKind.OF,
        actor=ask.login,
        command_id=ask.command_id,
        now=visit.services.now(),
        details=next((one.details for one in _held(ask) if one.other == here), details),
    )
    verdict = _decided(ask, root)
    assert verdict is not None, "it has just been stored"
    return verdict
