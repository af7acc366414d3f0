"""A command's request and result, and the issue that a command names as `#N` (C4)."""

from __future__ import annotations

from dataclasses import dataclass

from bot.conversation.commands.table import Command, Requirement, allowed
from bot.conversation.messages.catalogue import Messages
from bot.conversation.render.replies import Replies
from bot.deliveries.events import CommentEvent
from bot.domain.entities import Issue, Permission, same_login
from bot.domain.errors import NotFound
from bot.domain.feedback import Role
from handlers.context import IssueContext


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command went. `text` is a Markdown reply. After a successful re-check, `text` is often empty (C2)."""

    ok: bool
    text: str = ""


class CommandRequest:
    """A comment with commands on an issue, and the person who wrote or edited it."""

    def __init__(self, context: IssueContext, event: CommentEvent) -> None:
        self.context = context
        self.command_id = event.comment_id
        self.edited = event.action == "edited"
        self.login = event.sender.login
        # Not `cached_property`, for the reason in `IssueContext.issue`.
        self._permission: Permission | None = None

    @property
    def issue(self) -> Issue:
        return self.context.issue

    @property
    def permission(self) -> Permission:
        """The person's access to the repository; read from GitHub on first use."""
        if self._permission is None:
            self._permission = self.context.github.permission(self.context.repo, self.login)
        return self._permission

    @property
    def say(self) -> Messages:
        return self.context.messages

    @property
    def replies(self) -> Replies:
        return Replies(self.say, self.context.links)

    @property
    def is_author(self) -> bool:
        return same_login(self.login, self.issue.author.login)

    @property
    def role(self) -> Role:
        """TRIAGE with triage access, else AUTHOR. Other people get AUTHOR, too: call `may` first to refuse them."""
        return Role.TRIAGE if self.may(Requirement.TRIAGE) else Role.AUTHOR

    def may(self, who: Requirement) -> bool:
        # If possible, answer without the permission, which costs a request.
        if who is Requirement.ANYONE:
            return True
        if who is Requirement.AUTHOR_OR_TRIAGE and self.is_author:
            return True
        return allowed(who, self.permission, self.is_author)

    def refuse(self, text: str) -> CommandResult:
        return CommandResult(False, text)


def issue_named(request: CommandRequest, command: Command) -> Issue | CommandResult:
    """The issue that a command names, or a refusal if it is missing, a pull request or the command's own issue."""
    other = _find_named(request, command)
    if isinstance(other, CommandResult) or not other.is_pull_request:
        return other
    return request.refuse(request.say.not_an_issue(issue=request.context.links.issue(other.number)))


def number_named(request: CommandRequest, command: Command) -> int | CommandResult:
    """The number of the issue, pull request or discussion that a command names, or a refusal."""
    issue_or_refusal = _find_named(request, command)
    if isinstance(issue_or_refusal, Issue):
        return issue_or_refusal.number
    number, context = command.number or 0, request.context
    # GitHub's REST API cannot look up a discussion. Accept only past candidates, and discussions linked in our comment.
    past_candidates = [item for decision in context.decisions() for item in decision.evidence]
    numbers_here = [item.number for item in past_candidates if not item.repo]
    is_known = number in numbers_here or comment_links_to(request, context.links.discussion(number))
    return number if is_known else issue_or_refusal


def comment_links_to(request: CommandRequest, link: str) -> bool:
    """Whether the advisory comment contains this link. Reads the comment on GitHub: the store erases old decisions."""
    context = request.context
    stored = context.stored_comment()
    if stored is None or stored.comment_id is None:
        return False
    try:
        body = context.github.comment(context.repo, stored.comment_id).body
    except NotFound:
        return False
    return link.lower() in body.lower()


def _find_named(request: CommandRequest, command: Command) -> Issue | CommandResult:
    context, number = request.context, command.number or 0
    if number == context.number:
        return request.refuse(request.say.itself())
    try:
        return context.github.issue(context.repo, number)
    except NotFound:
        return request.refuse(request.say.issue_gone(issue=request.context.links.issue(number)))
