"""Carries out the `/duplicates` commands in a comment, in order, and answers them in one reply (C2, C4, C5).

After an edit, only commands on changed lines run. The other commands ran before, and running them again could undo
later changes. Each version of a comment runs once, and never after a newer version. Otherwise anybody who has seen a
signed payload could run its commands again, by sending it under a new id.

GitHub lets an installation create 500 comments, reactions and the like an hour, and 80 a minute. A command creates
three to five of these. So each person without triage access has a limit, and all such people together may use 60
commands an hour and 10 a minute in an installation. Over a third is left for advisory comments and maintainers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import (
    COMMANDS_LIMIT,
    LIMIT_SECONDS,
    Command,
    CommandName,
    CommandProblem,
    InvalidCommand,
    MisspeltCommand,
    ParsedLine,
    Requirement,
)
from bot.conversation.commands.visible_lines import predates_edit
from bot.conversation.comments import CommentDraft, CommentSlot, hash_texts
from bot.conversation.marker import is_reply_to
from bot.conversation.render.replies import render_reply
from bot.deliveries.events import CommentEvent
from bot.domain.entities import RepoRef
from bot.domain.errors import GitHubError
from bot.platform.addresses import hosts_of
from bot.storage.commands import UsageLimit
from handlers import background
from handlers.commands import close_as_duplicate, decisions, queries
from handlers.commands.request import CommandRequest, CommandResult
from handlers.context import IssueContext, issue_context
from handlers.services import Services

logger = logging.getLogger(__name__)

HANDLERS: dict[CommandName, Callable[[CommandRequest, Command], CommandResult]] = {
    CommandName.RECHECK: queries.recheck,
    CommandName.SEARCH: queries.recheck,
    CommandName.EXPLAIN: queries.explain,
    CommandName.NOT: decisions.reject,
    CommandName.OF: close_as_duplicate.close_as_duplicate,
    CommandName.UNDO: decisions.undo,
    CommandName.MUTE: decisions.mute,
    CommandName.UNMUTE: decisions.unmute,
    CommandName.SCAN: background.begin_scan,
    CommandName.HELP: queries.show_help,
}


def comment_written(event: CommentEvent, services: Services) -> None:
    """A person wrote or edited a comment: carry out its commands."""
    commands, partial = _new_commands(event, services)
    if not commands or event.locked:
        return
    with issue_context(event, services) as context:
        if context is not None:
            _carry_out_once(context, event, commands, partial=partial)


def _carry_out_once(
    context: IssueContext, event: CommentEvent, commands: Sequence[ParsedLine], *, partial: bool
) -> None:
    """Carry out the commands unless that was done before. `partial`: the comment also has commands that ran before."""
    # The hash includes the time: a command that one edit removes and a later edit restores is a new command.
    text_hash = hash_texts(event.updated_at, *(command.line for command in commands))
    store, delivery = context.services.store, context.services.delivery
    key = (context.repository.id, context.number, event.comment_id)
    if not store.handled_commands.begin(*key, said_at=event.updated_at, text_hash=text_hash, delivery=delivery):
        logger.info("the commands of comment %d in %s were done before or are outdated", event.comment_id, context.repo)
        return
    reply = store.comments.get(*key)
    # If an attempt was killed just after replying, the reply exists already.
    if reply is None or reply.text_hash != text_hash:
        _carry_out(context, event, commands, text_hash, partial=partial)
    store.handled_commands.end(*key, text_hash=text_hash)


def _carry_out(
    context: IssueContext, event: CommentEvent, new: Sequence[ParsedLine], text_hash: str, *, partial: bool
) -> None:
    github, repo, comment_id = context.github, context.repo, event.comment_id
    # If the comment was deleted meanwhile, NotFound ends the work.
    commands, written = _still_written(context, event, new)
    if not commands:
        return
    request = CommandRequest(context, event)
    refusal = _over_limit(request, len(commands), text_hash)
    # An empty refusal means silence.
    if refusal == "" or request.issue.locked:
        return
    if refusal is not None:
        _reply(request, [("", request.refuse(refusal))], text_hash)
        return
    bot_account = github.react(repo, comment_id, "eyes")
    results = [(command.line, _run(request, command, later=i > 0)) for i, command in enumerate(commands)]
    ok = all(result.ok for _, result in results)
    # React before replying, because the reply marks the delivery as answered. Remove the opposite reaction, which an
    # earlier attempt or the text before an edit may have caused.
    github.unreact(repo, comment_id, "-1" if ok else "+1", bot_account)
    github.react(repo, comment_id, "+1" if ok else "-1")
    _reply(request, results, text_hash, partial=partial, written=written)


def _new_commands(event: CommentEvent, services: Services) -> tuple[tuple[ParsedLine, ...], bool]:
    """The commands to carry out, each once, and whether the comment also holds commands that ran before.

    After an edit these are only the commands on new lines (C1). If the editor is not the author, the editor must have
    typed the line: a line that the edit merely takes out of a quote or of code does not count.
    """
    now = _parse(event.body, event.repository.ref, services)
    before = _parse(event.previous, event.repository.ref, services) if event.action == "edited" else ()
    if [command.line for command in before] == [command.line for command in now]:
        return (), True  # No command is new.

    # TOO_MANY stands for all commands over a comment's limit. They were not carried out.
    def was_carried_out(command: ParsedLine) -> bool:
        return not (isinstance(command, InvalidCommand) and command.problem is CommandProblem.TOO_MANY)

    known = {command.line for command in before if was_carried_out(command)}
    if event.by_another:
        known |= {command.line for command in now if predates_edit(command.line, event.previous, event.body)}
    new = {command.line: command for command in now if command.line not in known}
    return tuple(new.values()), any(command.line in known for command in now)


def _parse(body: str, repo: RepoRef, services: Services) -> tuple[ParsedLine, ...]:
    """The commands of a comment. Ask GitHub for the App's name only if the comment may mention the App."""
    app = services.github.app().get_app().slug if "@" in body else ""
    return parse(body, repo, hosts_of(services.settings.github_api_url), app)


def _still_written(
    context: IssueContext, event: CommentEvent, commands: Sequence[ParsedLine]
) -> tuple[tuple[ParsedLine, ...], datetime]:
    """The commands that no later edit of the comment has withdrawn, and the time when the comment was written.

    Raises NotFound if the comment was deleted.
    """
    comment = context.github.comment(context.repo, event.comment_id)
    lines = {command.line for command in _parse(comment.body, context.repo, context.services)}
    return tuple(command for command in commands if command.line in lines), comment.created_at


def _run(request: CommandRequest, parsed: ParsedLine, *, later: bool) -> CommandResult:
    """Carry out one command. If GitHub refuses, the result says so; Retryable errors go to the queue.

    `later` means that an earlier command of the comment may have changed the issue.
    """
    if isinstance(parsed, MisspeltCommand):
        return request.refuse(request.replies.misspelt(parsed))
    if isinstance(parsed, InvalidCommand):
        return request.refuse(request.replies.invalid(parsed))
    try:
        if later:
            request.context.reload()
        if not request.may(parsed.spec.who):
            return request.refuse(request.replies.forbidden(parsed.spec))
        return HANDLERS[parsed.name](request, parsed)
    except GitHubError as refusal:
        # Do not raise: the answers to the comment's earlier commands must not get lost.
        logger.warning("%s refused in %s: %s", parsed.name or "re-check", request.context.repo, refusal)
        return request.refuse(request.replies.github_refused(refusal.detail))


def _reply(
    request: CommandRequest,
    results: Sequence[tuple[str, CommandResult]],
    text_hash: str,
    *,
    partial: bool = False,
    written: datetime | None = None,
) -> None:
    """Write or update the one reply to this comment. If no result has a text (most re-checks), no reply is needed.

    After an edit the reply holds only the answers to the new commands. `partial`: the comment also has older commands.
    Their reply stays if no new command needs a reply. A search for a lost reply needs `written`, the comment's time.
    """
    context = request.context
    comments, settings = context.services.comments, context.settings
    texts = [(line, result.text) for line, result in results if result.text]
    slot = CommentSlot(
        context.repository.id,
        context.repo,
        context.number,
        lambda body: is_reply_to(body, request.command_id),
        request.command_id,
        # One second earlier, because a server may leave out comments of exactly the given time.
        search_after=None if written is None else written - timedelta(seconds=1),
    )
    # Search for a lost reply only if the issue has comments besides the command.
    search = written is not None and request.issue.comments > 1
    if not texts:
        if not partial:
            # Only an edit can make a reply outdated. A comment without an edit, mostly a re-check, needs no search.
            comments.remove(context.github, slot, text_hash, search=search and request.edited)
        return
    if settings.problems:
        line, text = texts[-1]
        problems = request.replies.settings_problems(settings.problems, settings.source, settings.private)
        texts[-1] = (line, f"{text}\n\n{problems}")
    body = render_reply(request.command_id, texts, partial=partial)
    comments.write(context.github, slot, CommentDraft(body, hash_texts(body), text_hash), search=search)


TOGETHER = (UsageLimit(60, LIMIT_SECONDS, together=True), UsageLimit(10, 60.0, together=True))
"""The limits of all people without triage access together.

Beyond these limits the bot does not even refuse: a refusal would cost as much as an answer.
"""


def _over_limit(request: CommandRequest, commands: int, text_hash: str) -> str | None:
    """The refusal for a person over a limit (C5): None within the limits, empty to stay silent.

    The bot refuses each person only once an hour: a flood of comments must not cause a flood of answers.
    """
    if request.may(Requirement.TRIAGE):
        return None
    own = UsageLimit(COMMANDS_LIMIT, LIMIT_SECONDS)
    limit = _count(request, request.login, commands, (own, *TOGETHER), text_hash)
    if limit is None:
        return None
    # Refusals have a separate count, under a name with a space. No login has a space.
    if limit.together or _count(request, f"{request.login} told", 1, (UsageLimit(1, LIMIT_SECONDS),), text_hash):
        return ""
    return request.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)


def _count(
    request: CommandRequest, who: str, count: int, limits: Sequence[UsageLimit], text_hash: str
) -> UsageLimit | None:
    """Count `count` uses, and return the limit that they exceed. Redeliveries count once; an edit counts anew."""
    context, uses = request.context, [f"{request.command_id} {text_hash} {i}" for i in range(count)]
    return context.services.store.usage.refuse(context.repository.id, who, uses, limits, context.services.now())
