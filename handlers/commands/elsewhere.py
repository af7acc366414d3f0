"""`not` and `undo` for issues of other repositories, which a comment shows where `siblings` are searched (C4, H6)."""

from __future__ import annotations

from bot.commands import Command
from bot.judgements import Rejection
from bot.model import name_key, same_login
from handlers.advice.advice import refresh
from handlers.commands.ask import Answer, Ask, stands_there


def reject(ask: Ask, command: Command) -> Answer:
    """`not OWNER/REPO#N`: never show that issue for this one again; the comment loses it at once.

    Only what was shown here is taken. Nothing is asked of the other repository, which may be private by now, so the
    answer tells nobody what is there.
    """
    visit, repo, number = ask.visit, command.repo, command.number or 0
    issue = name_key(f"{repo}#{number}")
    before = [one for one in _of_issue(ask, issue) if one.command_id != ask.command_id]
    if not before and not _was_shown(ask, issue) and not stands_there(ask, visit.place.issue(number, repo)):
        return Answer(False, ask.replies.not_shown_here(number, repo))
    # Each person's word stands for itself: it holds when somebody else takes theirs back.
    if not any(same_login(one.actor, ask.login) for one in before):
        said = Rejection(visit.number, issue, ask.login, visit.services.now(), ask.command_id)
        visit.services.store.elsewhere.add(visit.repository.id, said)
    if not before:
        refresh(visit, ask.issue)
    return Answer(True, ask.replies.noted_different(number, bool(before), repo))


def _was_shown(ask: Ask, issue: str) -> bool:
    """Whether a comment here has named it. What would have been named, in `mode: shadow`, nobody has seen."""
    looks = ask.visit.decisions()
    named = (one for look in looks if look.outcome.seen for one in look.evidence if one.shown)
    return any(name_key(f"{one.repo}#{one.number}") == issue for one in named)


def last(ask: Ask, actor: str | None) -> Rejection | None:
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


def take_back(ask: Ask, rejection: Rejection, *, everybodys: bool) -> Answer:
    """Take back one's own word or, for people with triage, what anybody said of that issue up to here."""
    visit, store = ask.visit, ask.visit.services.store.elsewhere
    said = [one for one in _of_issue(ask, rejection.issue) if one.command_id <= ask.command_id]
    for one in said if everybodys else [rejection]:
        store.undo(visit.repository.id, one, ask.command_id, visit.services.now())
    holds = bool(_of_issue(ask, rejection.issue))
    if not holds:
        refresh(visit, ask.issue)
    repo, _, number = rejection.issue.rpartition("#")
    return Answer(True, ask.replies.undone_not(int(number), holds, repo))


def _of_issue(ask: Ask, issue: str) -> list[Rejection]:
    """Who said so and holds to it."""
    said = ask.visit.services.store.elsewhere.of_issue(ask.visit.repository.id, ask.visit.number)
    return [one for one in said if one.issue == issue and one.undone_by is None]
