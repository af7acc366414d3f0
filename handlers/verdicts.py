"""`not` and `undo`: deciding that a pair of issues is no duplicate, and taking a decision back (C4).

Each can be started twice for one comment, after a crash or a time-out, so every step can be repeated.
"""

from __future__ import annotations

from dataclasses import replace

from bot.commands import Command, Name, Requirement
from bot.commands.table import BY_NAME
from bot.errors import NotFound
from bot.model import Issue
from bot.render import replies
from bot.store import Verdict, VerdictKind
from handlers.advice import refresh
from handlers.ask import Answer, Ask
from handlers.visit import Visit


def reject(ask: Ask, command: Command) -> Answer:
    """`not #N`: never show this pair again, whichever of the two is looked at; the comment loses it at once."""
    other = other_issue(ask, command)
    if isinstance(other, Answer):
        return other
    visit, store = ask.visit, ask.visit.services.store.verdicts
    mine = {verdict.other for verdict in store.by_command(visit.repository.id, ask.command_id)}
    already = other.number in store.rejected(visit.repository.id, visit.number) - mine
    if not already:
        store.add(
            visit.repository.id,
            visit.number,
            other.number,
            VerdictKind.NOT,
            actor=ask.login,
            command_id=ask.command_id,
            now=visit.services.now(),
        )
        refresh(visit, ask.issue)
        _refresh_other(visit, other)
    return Answer(True, replies.noted_different(visit.place, other.number, already))


def _refresh_other(visit: Visit, other: Issue) -> None:
    """The other issue's comment may show this one."""
    kept = visit.services.store.comments.get(visit.repository.id, other.number)
    if kept is not None and visit.number in kept.shown:
        refresh(replace(visit, number=other.number), other)


def undo(ask: Ask, command: Command) -> Answer:
    """`undo`: take back the last `not` or `of` on this issue; one's own, or for people with triage anybody's."""
    visit, store = ask.visit, ask.visit.services.store.verdicts
    # Where this very comment has taken one back before, it must not take the next one too.
    done = store.undone_by(visit.repository.id, ask.command_id)
    actor = None if ask.may(Requirement.TRIAGE) else ask.login
    verdict = done[0] if done else store.last(visit.repository.id, visit.number, actor)
    if verdict is None:
        return Answer(False, replies.nothing_to_undo())
    if verdict.kind is VerdictKind.OF and actor is not None:
        # They could close it then and may not open it now.
        return Answer(False, replies.forbidden(BY_NAME[Name.OF]))
    reopened = _restore(ask, verdict) if verdict.kind is VerdictKind.OF else False
    store.undo(verdict.id, ask.command_id, visit.services.now())
    if verdict.kind is VerdictKind.NOT:
        refresh(visit, ask.issue)
        return Answer(True, replies.undone_not(visit.place, verdict.other))
    return Answer(True, replies.undone_of(visit.place, verdict.other, reopened))


def _restore(ask: Ask, verdict: Verdict) -> bool:
    """Bring the issue back to what it was before `of`, unless somebody has changed it since; whether it is open now."""
    visit, issue = ask.visit, ask.issue
    was = verdict.details["was"]
    still_so = issue.state == "closed" and issue.state_reason == "duplicate"
    if still_so and was in ("completed", "not_planned"):
        visit.github.close(visit.repo, visit.number, was)
    elif still_so:
        visit.github.reopen(visit.repo, visit.number)
    if label := verdict.details["label"]:
        visit.github.remove_label(visit.repo, visit.number, label)
    return was not in ("completed", "not_planned")


def other_issue(ask: Ask, command: Command) -> Issue | Answer:
    """The issue that a command names, or why it cannot be used."""
    visit, number = ask.visit, command.number or 0
    if number == visit.number:
        return Answer(False, replies.refused_itself())
    try:
        other = visit.github.issue(visit.repo, number)
    except NotFound:
        return Answer(False, replies.no_such_issue(visit.place, number))
    return Answer(False, replies.not_an_issue(visit.place, number)) if other.is_pull_request else other
