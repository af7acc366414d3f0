"""`of`: close an issue as GitHub's own kind of duplicate, of the oldest issue that its chain leads to (C4)."""

from __future__ import annotations

import logging

from bot.commands import Command
from bot.errors import GitHubError, NotFound
from bot.github.reads import same_repository
from bot.model import Issue
from bot.render import replies
from bot.store import Verdict, VerdictKind
from handlers.ask import Answer, Ask
from handlers.verdicts import other_issue

logger = logging.getLogger(__name__)

LABEL = "duplicate"
"""GitHub gives this label to every new repository; it is added where it still exists."""

# A longer chain of duplicates was not made by people; each link costs two requests.
_CHAIN_MAX = 20


def close_as_duplicate(ask: Ask, command: Command) -> Answer:
    """`of #N`: close the issue in favour of #N, or of what #N itself is a duplicate of."""
    visit = ask.visit
    named = other_issue(ask, command)
    if isinstance(named, Answer):
        return named
    chain = _chain(ask, named)
    root = chain[-1]
    if any(issue.number == visit.number for issue in chain):
        return Answer(False, replies.refused_circle(visit.place, named.number))
    if (root.created_at, root.number) > (ask.issue.created_at, ask.issue.number):
        return Answer(False, replies.refused_newer(visit.place, root.number))
    verdict = _decided(ask, root)
    if verdict is None:
        if _is_closed_for(ask, root):
            return Answer(True, replies.closed_already(visit.place, root.number))
        verdict = _decide(ask, root)
    try:
        visit.github.close_as_duplicate(visit.repo, visit.number, root.id)
    except GitHubError:
        visit.services.store.verdicts.remove(verdict.id)
        raise
    if label := verdict.details["label"]:
        try:
            visit.github.add_labels(visit.repo, visit.number, [label])
        except GitHubError as refusal:
            # The issue is closed and tied to the other one, which is what was asked for.
            logger.warning("no label on %s#%d: %s", visit.repo, visit.number, refusal)
    return Answer(True, replies.closed_for(visit.place, named.number, root.number))


def _chain(ask: Ask, named: Issue) -> list[Issue]:
    """The issue that was named, what that is a duplicate of, and so on, as far as the chain stays in this repository.

    It ends early where it comes back to the issue of the command, or where a link of it cannot be seen.
    """
    github, repo = ask.visit.github, ask.visit.repo
    chain = [named]
    while chain[-1].state_reason == "duplicate" and chain[-1].number != ask.visit.number and len(chain) < _CHAIN_MAX:
        original = github.duplicate_of(repo, chain[-1].number)
        if original is None or not same_repository(original.repo, repo):
            break
        if original.number in {issue.number for issue in chain}:
            break
        try:
            chain.append(github.issue(repo, original.number))
        except NotFound:
            break
    return chain


def _is_closed_for(ask: Ask, root: Issue) -> bool:
    if ask.issue.state_reason != "duplicate":
        return False
    original = ask.visit.github.duplicate_of(ask.visit.repo, ask.visit.number)
    return original is not None and original.number == root.number and same_repository(original.repo, ask.visit.repo)


def _decided(ask: Ask, root: Issue) -> Verdict | None:
    """What an earlier attempt at this command has stored."""
    taken = ask.visit.services.store.verdicts.by_command(ask.visit.repository.id, ask.command_id)
    holding = (v for v in taken if v.kind is VerdictKind.OF and v.other == root.number and v.undone_at is None)
    return next(holding, None)


def _decide(ask: Ask, root: Issue) -> Verdict:
    """Store the decision before GitHub is asked for anything, with what taking it back must know."""
    visit, issue = ask.visit, ask.issue
    present = {label.lower() for label in issue.labels}
    label = next((name for name in visit.github.labels(visit.repo) if name.lower() == LABEL), None)
    visit.services.store.verdicts.add(
        visit.repository.id,
        visit.number,
        root.number,
        VerdictKind.OF,
        actor=ask.login,
        command_id=ask.command_id,
        now=visit.services.now(),
        details={
            "was": issue.state if issue.state == "open" else issue.state_reason or "completed",
            "label": None if LABEL in present else label,
        },
    )
    verdict = _decided(ask, root)
    assert verdict is not None, "it has just been stored"
    return verdict
