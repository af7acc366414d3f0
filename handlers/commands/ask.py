"""What a command is given, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bot.commands import Requirement, allowed
from bot.events import CommentEvent
from bot.model import Issue, Permission, same_login
from bot.render import Replies
from handlers.visit import Visit


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command went. `text` is Markdown for the reply; a re-check that went well has none (C2)."""

    ok: bool
    text: str = ""


class Ask:
    """A comment with commands: where it stands, on which issue, whether it was edited, and who wrote it or did that."""

    def __init__(self, visit: Visit, event: CommentEvent) -> None:
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
