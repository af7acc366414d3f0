"""What a command is given, the other issue that it names, and what it answers (C4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bot.conversation.commands.table import Command, Requirement, allowed
from bot.conversation.render.replies import Replies
from bot.deliveries.events import CommentEvent
from bot.domain.entities import Issue, Permission, same_login
from bot.domain.errors import NotFound
from handlers.context import IssueContext


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command went. `text` is Markdown for the reply; a re-check that went well has none (C2)."""

    ok: bool
    text: str = ""


class CommandRequest:
    """A comment with commands: where it stands, on which issue, whether it was edited, and who wrote it or did that."""

    def __init__(self, visit: IssueContext, event: CommentEvent) -> None:
        self.visit = visit
        self.command_id = event.comment_id
        self.installation = event.installation
        self.edited = event.action == "edited"
        self.login = event.sender.login

    @cached_property
    def issue(self) -> Issue:
        """The issue as GitHub has it now."""
        return self.visit.github.issue(self.visit.repo, self.visit.number)

    @cached_property
    def permission(self) -> Permission:
        """What they may do in the repository; read once, and only where it matters."""
        return self.visit.github.permission(self.visit.repo, self.login)

    @cached_property
    def replies(self) -> Replies:
        """The answers in the issue's language and the repository's own words."""
        return Replies(self.visit.words(self.issue), self.visit.place)

    @property
    def is_author(self) -> bool:
        """Whether they opened the issue."""
        return same_login(self.login, self.issue.author.login)

    def may(self, who: Requirement) -> bool:
        """Whether they meet a requirement (C5)."""
        if who is Requirement.ANYONE:
            return True
        if who is Requirement.AUTHOR_OR_TRIAGE and self.is_author:
            return True
        return allowed(who, self.permission, self.is_author)


def issue_named(ask: CommandRequest, command: Command) -> Issue | CommandResult:
    """The issue that a command names, or why it cannot be used."""
    other = _named(ask, command)
    if isinstance(other, CommandResult) or not other.is_pull_request:
        return other
    return CommandResult(False, ask.replies.not_an_issue(other.number))


def number_named(ask: CommandRequest, command: Command) -> int | CommandResult:
    """The number of the issue, pull request or discussion that a command names, or why it cannot be used."""
    other = _named(ask, command)
    if isinstance(other, Issue):
        return other.number
    number, visit = command.number or 0, ask.visit
    # Discussions are no issues to GitHub's REST API; those that may be meant were found by a look.
    looks = visit.decisions()
    found = any(one.number == number and not one.repo for look in looks for one in look.evidence)
    return number if found or stands_there(ask, visit.place.discussion(number)) else other


def stands_there(ask: CommandRequest, link: str) -> bool:
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


def _named(ask: CommandRequest, command: Command) -> Issue | CommandResult:
    """What a command names, an issue or a pull request, or why there is none."""
    visit, number = ask.visit, command.number or 0
    if number == visit.number:
        return CommandResult(False, ask.replies.refused_itself())
    try:
        return visit.github.issue(visit.repo, number)
    except NotFound:
        return CommandResult(False, ask.replies.no_such_issue(number))
