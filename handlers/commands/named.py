"""The other issue that a command names, or why it cannot be used (C4)."""

from __future__ import annotations

from bot.commands import Command
from bot.errors import NotFound
from bot.model import Issue
from handlers.commands.ask import Answer, Ask


def issue_named(ask: Ask, command: Command) -> Issue | Answer:
    """The issue that a command names, or why it cannot be used."""
    other = _read(ask, command)
    if isinstance(other, Answer) or not other.is_pull_request:
        return other
    return Answer(False, ask.replies.not_an_issue(other.number))


def number_named(ask: Ask, command: Command) -> int | Answer:
    """The number of the issue, pull request or discussion that a command names, or why it cannot be used."""
    other = _read(ask, command)
    if isinstance(other, Issue):
        return other.number
    number, visit = command.number or 0, ask.visit
    # Discussions are no issues to GitHub's REST API; those that may be meant were found by a look.
    looks = visit.decisions()
    found = any(one.number == number and not one.repo for look in looks for one in look.evidence)
    return number if found or stands_there(ask, visit.place.discussion(number)) else other


def stands_there(ask: Ask, link: str) -> bool:
    """Whether the comment has this link now. Comments stand for longer than it is kept what they showed."""
    visit = ask.visit
    kept = visit.kept_comment()
    if kept is None or kept.comment_id is None:
        return False
    try:
        body = visit.github.comment(visit.repo, kept.comment_id).body
    except NotFound:
        return False
    return link.lower() in body.lower()


def _read(ask: Ask, command: Command) -> Issue | Answer:
    """What a command names, an issue or a pull request, or why there is none."""
    visit, number = ask.visit, command.number or 0
    if number == visit.number:
        return Answer(False, ask.replies.refused_itself())
    try:
        return visit.github.issue(visit.repo, number)
    except NotFound:
        return Answer(False, ask.replies.no_such_issue(number))
