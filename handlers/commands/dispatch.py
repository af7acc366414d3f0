"""The one reply to a comment with commands, kept as their answers say (C2), and how many commands people may give who
have no triage access, so that nobody has the bot write without end (C5).

GitHub lets an installation create 500 comments, reactions and the like an hour, and 80 a minute. A command costs three
to five of these. All strangers together get 60 commands an hour and 10 a minute, in all repositories of the
installation, so that more than a third of either is left for advisory comments and for people with triage access.
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
from bot.storage.commands import Limit
from handlers import background as scanning
from handlers.commands import close_as_duplicate as duplicate
from handlers.commands import decisions as verdicts
from handlers.commands import queries as looking
from handlers.commands.request import CommandRequest, CommandResult
from handlers.context import IssueContext, visiting
from handlers.services import Services


def reply(
    ask: CommandRequest,
    answers: Sequence[tuple[str, CommandResult]],
    hashed: str,
    *,
    partial: bool = False,
    written: datetime | None = None,
) -> None:
    """Keep the one reply to this comment; a re-check that went well needs none.

    After an edit it holds the answers to what the edit gave; where there are none, those to what still stands in the
    comment (`partial`) stay. A reply of before is looked for where it is known when the command was `written`.
    """
    visit = ask.visit
    texts = [(line, answer.text) for line, answer in answers if answer.text]
    slot = CommentSlot(
        visit.repository.id,
        visit.repo,
        visit.number,
        lambda body: is_reply_to(body, ask.command_id),
        ask.command_id,
        # A reply comes later; the second is for a server that takes this to mean after it.
        None if written is None else written - timedelta(seconds=1),
    )
    # A reply can be there without our knowing: the store may be new, or older than it. Besides the command itself there
    # must be another comment then.
    look = written is not None and ask.issue.comments > 1
    if not texts:
        if not partial:
            # Only an edit leaves one behind: of a new re-check, which is common, none is looked for.
            visit.services.comments.remove(visit.github, slot, hashed, look=look and ask.edited)
        return
    if visit.settings.problems:
        line, text = texts[-1]
        settings = visit.settings
        problems = ask.replies.settings_problems(settings.problems, settings.source, settings.private)
        texts[-1] = (line, f"{text}\n\n{problems}")
    body = render_reply(ask.command_id, texts, partial=partial)
    visit.services.comments.keep(visit.github, slot, CommentDraft(body, hash_texts(body), hashed), look=look)


TOGETHER = (Limit(60, LIMIT_SECONDS, together=True), Limit(10, 60.0, together=True))
"""The share of strangers. Who comes when it is used up is not answered: that would cost what is saved."""


def refuse(ask: CommandRequest, commands: int, hashed: str) -> str | None:
    """What is answered to a person who may not give so many commands now, empty for nothing; None where they may (C5).

    Who goes beyond their own limit is told once: an answer to each of a flood of comments would make a second flood.
    """
    if ask.may(Requirement.TRIAGE):
        return None
    own = Limit(COMMANDS_LIMIT, LIMIT_SECONDS)
    limit = _counted(ask, ask.login, commands, (own, *TOGETHER), hashed)
    if limit is None:
        return None
    # No login contains a space, so that this counts apart from the commands.
    if limit.together or _counted(ask, f"{ask.login} told", 1, (Limit(1, LIMIT_SECONDS),), hashed):
        return ""
    return ask.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)


def _counted(ask: CommandRequest, who: str, count: int, limits: Sequence[Limit], hashed: str) -> Limit | None:
    # A redelivery is the same use; an edit of the commands is another one.
    services, uses = ask.visit.services, [f"{ask.command_id} {hashed} {at}" for at in range(count)]
    return services.store.usage.refuse(ask.visit.repository.id, who, uses, limits, services.now())


logger = logging.getLogger(__name__)

CARRY_OUT: dict[CommandName, Callable[[CommandRequest, Command], CommandResult]] = {
    CommandName.RECHECK: looking.recheck,
    CommandName.SEARCH: looking.recheck,
    CommandName.EXPLAIN: looking.explain,
    CommandName.NOT: verdicts.reject,
    CommandName.OF: duplicate.close_as_duplicate,
    CommandName.UNDO: verdicts.undo,
    CommandName.MUTE: looking.mute,
    CommandName.UNMUTE: looking.unmute,
    CommandName.SCAN: scanning.begin,
    CommandName.HELP: looking.show_help,
}


@dataclass(frozen=True, slots=True)
class _Given:
    """The commands that an event gives; `partial` is whether its comment holds others that were given before."""

    commands: tuple[ParsedLine, ...]
    partial: bool


def obey(event: CommentEvent, services: Services) -> None:
    """A person wrote or edited a comment with commands."""
    given = _given(event, services)
    if not given.commands or event.locked:
        return
    with visiting(event, services) as visit:
        if visit is not None:
            _heed(visit, event, given)


def _heed(visit: IssueContext, event: CommentEvent, given: _Given) -> None:
    """Obey, unless another delivery has had this done or what came later."""
    # The time tells a command from the same one that was taken out by an edit and put back by another.
    hashed = hash_texts(event.updated_at, *(command.line for command in given.commands))
    store, delivery = visit.services.store, visit.services.delivery
    text = (visit.repository.id, visit.number, event.comment_id)
    if not store.heeded.begin(*text, said_at=event.updated_at, text_hash=hashed, delivery=delivery):
        logger.info("the commands of comment %d in %s have been heeded", event.comment_id, visit.repo)
        return
    kept = store.comments.get(*text)
    # An earlier version may have answered it, which noted nothing else, or a try that ended just after.
    if kept is None or kept.text_hash != hashed:
        _obey(visit, event, given, hashed)
    store.heeded.end(*text, text_hash=hashed)


def _obey(visit: IssueContext, event: CommentEvent, given: _Given, hashed: str) -> None:
    # Where the comment was deleted meanwhile, the wish went with it: NotFound ends this.
    commands, written = _standing(visit, event, given.commands)
    if not commands:
        return
    ask = CommandRequest(visit, event)
    # Before the issue is read: of a flood each comment costs two questions to GitHub.
    refusal = refuse(ask, len(commands), hashed)
    if refusal == "" or ask.issue.locked:
        return
    if refusal is not None:
        reply(ask, [("", CommandResult(False, refusal))], hashed)
        return
    me = visit.github.react(visit.repo, event.comment_id, "eyes")
    answers = [(command.line, _answer(ask, command, again=at > 0)) for at, command in enumerate(commands)]
    well = all(answer.ok for _, answer in answers)
    # Before the reply, after which the delivery counts as answered: where GitHub is away just then, it comes again.
    # What the comment said before an edit may have gone the other way, and so may a try before this one.
    visit.github.unreact(visit.repo, event.comment_id, "-1" if well else "+1", me)
    visit.github.react(visit.repo, event.comment_id, "+1" if well else "-1")
    reply(ask, answers, hashed, partial=given.partial, written=written)


def _given(event: CommentEvent, services: Services) -> _Given:
    """The commands to carry out: each once, and after an edit only those whose line is new (C1).

    Who edits another's comment gives only what they have written themselves: to take out a line above it, or what made
    it a quote or code, must not give in their name what the author may not.
    """
    now = _read(event.body, event.repository.ref, services)
    before = _read(event.previous, event.repository.ref, services) if event.action == "edited" else ()
    if [one.line for one in before] == [one.line for one in now]:
        return _Given((), partial=True)
    # One beyond the most that a comment may hold was not carried out, and is when others make place for it.
    known = {
        one.line for one in before if not (isinstance(one, InvalidCommand) and one.problem is CommandProblem.TOO_MANY)
    }
    if event.by_another:
        known |= {one.line for one in now if is_written(one.line, event.previous, event.body)}
    new = {one.line: one for one in now if one.line not in known}
    return _Given(tuple(new.values()), partial=any(one.line in known for one in now))


def _read(body: str, repo: RepoRef, services: Services) -> tuple[ParsedLine, ...]:
    """The commands of a comment. What the App is called is asked only where the comment may call it."""
    app = services.github.app().get_app().slug if "@" in body else ""
    return parse(body, repo, hosts_of(services.settings.github_api_url), app)


def _standing(
    visit: IssueContext, event: CommentEvent, commands: Sequence[ParsedLine]
) -> tuple[tuple[ParsedLine, ...], datetime]:
    """Those commands whose lines the comment still has, and when it was written; an edit before the bot came to them
    withdraws the others.

    An event can be late, and come after that of a later edit. Raises NotFound where the comment was deleted.
    """
    comment = visit.github.comment(visit.repo, event.comment_id)
    lines = {one.line for one in _read(comment.body, visit.repo, visit.services)}
    return tuple(one for one in commands if one.line in lines), comment.created_at


def _answer(ask: CommandRequest, parsed: ParsedLine, *, again: bool) -> CommandResult:
    """Carry out one command. What GitHub refuses is told; what may succeed later goes through to the queue.

    `again` is whether another command of the comment went before: this one acts on what that has left behind.
    """
    if isinstance(parsed, MisspeltCommand):
        return CommandResult(False, ask.replies.misspelt(parsed))
    if isinstance(parsed, InvalidCommand):
        return CommandResult(False, ask.replies.invalid(parsed))
    try:
        if again:
            ask.issue = ask.visit.github.issue(ask.visit.repo, ask.visit.number)
        if not ask.may(parsed.row.who):
            return CommandResult(False, ask.replies.forbidden(parsed.row))
        return CARRY_OUT[parsed.name](ask, parsed)
    except GitHubError as refusal:
        # The answers to the commands before it must not get lost.
        logger.warning("%s refused in %s: %s", parsed.name or "re-check", ask.visit.repo, refusal)
        return CommandResult(False, ask.replies.github_refused(refusal.detail))
