"""Comments with `/duplicates` commands: carried out in order and answered in one reply (C2, C4, C5).

An edit gives only the commands whose lines it changed: the others were given before, and people may have overtaken
them since. For the same reason each text of a comment is carried out once, whichever delivery brings it, and none that
is older than the last one: whoever has seen a signed payload can send it again under a new id.

GitHub lets an installation create 500 comments, reactions and the like an hour, and 80 a minute. A command costs three
to five of these. So people without triage access have a limit each, and together 60 commands an hour and 10 a minute
in all repositories of the installation, which leaves a third for advisory comments and maintainers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from bot.conversation.commands.visible_lines import is_written
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


@dataclass(frozen=True, slots=True)
class _Given:
    """The commands that an event gives; `partial` is whether its comment holds others that were given before."""

    commands: tuple[ParsedLine, ...]
    partial: bool


def comment_written(event: CommentEvent, services: Services) -> None:
    """A person wrote or edited a comment: carry out its commands."""
    given = _given(event, services)
    if not given.commands or event.locked:
        return
    with issue_context(event, services) as context:
        if context is not None:
            _carry_out_once(context, event, given)


def _carry_out_once(context: IssueContext, event: CommentEvent, given: _Given) -> None:
    # The time tells a command from the same one that an edit removed and another edit restored.
    text_hash = hash_texts(event.updated_at, *(command.line for command in given.commands))
    store, delivery = context.services.store, context.services.delivery
    text = (context.repository.id, context.number, event.comment_id)
    if not store.handled_commands.begin(*text, said_at=event.updated_at, text_hash=text_hash, delivery=delivery):
        logger.info("the commands of comment %d in %s have been heeded", event.comment_id, context.repo)
        return
    kept = store.comments.get(*text)
    # The reply may be there already: by an earlier version, or by an attempt that was killed just after.
    if kept is None or kept.text_hash != text_hash:
        _carry_out(context, event, given, text_hash)
    store.handled_commands.end(*text, text_hash=text_hash)


def _carry_out(context: IssueContext, event: CommentEvent, given: _Given, text_hash: str) -> None:
    github, repo, comment_id = context.github, context.repo, event.comment_id
    # A comment that was deleted meanwhile takes its commands with it: NotFound ends this.
    commands, written = _still_there(context, event, given.commands)
    if not commands:
        return
    request = CommandRequest(context, event)
    refusal = _over_limit(request, len(commands), text_hash)
    if refusal == "" or request.issue.locked:
        return
    if refusal is not None:
        _reply(request, [("", request.refuse(refusal))], text_hash)
        return
    me = github.react(repo, comment_id, "eyes")
    results = [(command.line, _run(request, command, again=at > 0)) for at, command in enumerate(commands)]
    ok = all(result.ok for _, result in results)
    # Reactions come before the reply, after which the delivery counts as answered. Those of the comment before its
    # edit, or of an earlier attempt, may say the opposite.
    github.unreact(repo, comment_id, "-1" if ok else "+1", me)
    github.react(repo, comment_id, "+1" if ok else "-1")
    _reply(request, results, text_hash, partial=given.partial, written=written)


def _given(event: CommentEvent, services: Services) -> _Given:
    """The commands to carry out: each once, and after an edit only those whose line is new (C1).

    Whoever edits somebody else's comment gives only what they have written themselves: uncovering a line that stood in
    a quote or in code gives no command in their name.
    """
    now = _read(event.body, event.repository.ref, services)
    before = _read(event.previous, event.repository.ref, services) if event.action == "edited" else ()
    if [one.line for one in before] == [one.line for one in now]:
        return _Given((), partial=True)

    def was_carried_out(one: ParsedLine) -> bool:
        return not (isinstance(one, InvalidCommand) and one.problem is CommandProblem.TOO_MANY)

    known = {one.line for one in before if was_carried_out(one)}
    if event.by_another:
        known |= {one.line for one in now if is_written(one.line, event.previous, event.body)}
    new = {one.line: one for one in now if one.line not in known}
    return _Given(tuple(new.values()), partial=any(one.line in known for one in now))


def _read(body: str, repo: RepoRef, services: Services) -> tuple[ParsedLine, ...]:
    """The commands of a comment. GitHub is asked for the App's name only if the comment may use it."""
    app = services.github.app().get_app().slug if "@" in body else ""
    return parse(body, repo, hosts_of(services.settings.github_api_url), app)


def _still_there(
    context: IssueContext, event: CommentEvent, commands: Sequence[ParsedLine]
) -> tuple[tuple[ParsedLine, ...], datetime]:
    """The commands whose lines the comment still has, since an edit withdraws the others, and when it was written.

    Raises NotFound if the comment was deleted.
    """
    comment = context.github.comment(context.repo, event.comment_id)
    lines = {one.line for one in _read(comment.body, context.repo, context.services)}
    return tuple(one for one in commands if one.line in lines), comment.created_at


def _run(request: CommandRequest, parsed: ParsedLine, *, again: bool) -> CommandResult:
    """Carry out one command. Its answer tells what GitHub refuses; Retryable errors go to the queue.

    `again`: an earlier command of the comment may have changed the issue.
    """
    if isinstance(parsed, MisspeltCommand):
        return request.refuse(request.replies.misspelt(parsed))
    if isinstance(parsed, InvalidCommand):
        return request.refuse(request.replies.invalid(parsed))
    try:
        if again:
            request.context.reload()
        if not request.may(parsed.spec.who):
            return request.refuse(request.replies.forbidden(parsed.spec))
        return HANDLERS[parsed.name](request, parsed)
    except GitHubError as refusal:
        # The answers to the commands before it must not get lost.
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
    """Keep the one reply to this comment; a successful re-check needs none.

    After an edit it holds the answers to the new commands. If these need none, the answers to the rest of the comment
    (`partial`) stay. An earlier reply is looked for if it is known when the command was `written`.
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
        # The second is for a server that excludes the time itself.
        None if written is None else written - timedelta(seconds=1),
    )
    # A reply that the store does not know is a comment besides the command itself.
    look = written is not None and request.issue.comments > 1
    if not texts:
        if not partial:
            # Only an edit leaves a reply behind; none is looked for after a new re-check, which is common.
            comments.remove(context.github, slot, text_hash, look=look and request.edited)
        return
    if settings.problems:
        line, text = texts[-1]
        problems = request.replies.settings_problems(settings.problems, settings.source, settings.private)
        texts[-1] = (line, f"{text}\n\n{problems}")
    body = render_reply(request.command_id, texts, partial=partial)
    comments.keep(context.github, slot, CommentDraft(body, hash_texts(body), text_hash), look=look)


TOGETHER = (UsageLimit(60, LIMIT_SECONDS, together=True), UsageLimit(10, 60.0, together=True))
"""The limits of all people without triage access together. Beyond them nobody is answered, which would cost as much."""


def _over_limit(request: CommandRequest, commands: int, text_hash: str) -> str | None:
    """The answer to somebody who gives too many commands, empty for none; None if they may go on (C5).

    Whoever exceeds their own limit is told once: a flood of comments must not cause a flood of answers.
    """
    if request.may(Requirement.TRIAGE):
        return None
    own = UsageLimit(COMMANDS_LIMIT, LIMIT_SECONDS)
    limit = _count(request, request.login, commands, (own, *TOGETHER), text_hash)
    if limit is None:
        return None
    # No login contains a space, so this is counted apart from the commands.
    if limit.together or _count(request, f"{request.login} told", 1, (UsageLimit(1, LIMIT_SECONDS),), text_hash):
        return ""
    return request.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)


def _count(
    request: CommandRequest, who: str, count: int, limits: Sequence[UsageLimit], text_hash: str
) -> UsageLimit | None:
    """Count so many uses; returns the limit that is exceeded. A redelivery is the same use, an edit is another one."""
    context, uses = request.context, [f"{request.command_id} {text_hash} {at}" for at in range(count)]
    return context.services.store.usage.refuse(context.repository.id, who, uses, limits, context.services.now())
