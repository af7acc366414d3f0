"""Comments with `/duplicates` commands: acknowledged, carried out in order, answered in one reply (C2, C4, C5).

An edit gives the commands whose lines it changed, and no other: what stands there as before was given before, and may
have been overtaken by what people did since.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.addresses import hosts_of
from bot.commands import (
    COMMANDS_LIMIT,
    LIMIT_SECONDS,
    Command,
    Invalid,
    Misspelt,
    Name,
    Parsed,
    Problem,
    Requirement,
    parse,
)
from bot.commands.lines import is_written
from bot.errors import GitHubError
from bot.events import CommentEvent
from bot.posts.comments import Draft, Slot, digest
from bot.posts.marker import answered_by, is_reply_to
from bot.render import render_reply
from bot.services import Services
from handlers import duplicate, looking, muting, scanning, verdicts
from handlers.ask import Answer, Ask
from handlers.visit import Visit, visiting

logger = logging.getLogger(__name__)

CARRY_OUT: dict[Name, Callable[[Ask, Command], Answer]] = {
    Name.RECHECK: looking.recheck,
    Name.SEARCH: looking.recheck,
    Name.EXPLAIN: looking.explain,
    Name.NOT: verdicts.reject,
    Name.OF: duplicate.close_as_duplicate,
    Name.UNDO: verdicts.undo,
    Name.MUTE: muting.mute,
    Name.UNMUTE: muting.unmute,
    Name.SCAN: scanning.begin,
    Name.HELP: looking.show_help,
}


@dataclass(frozen=True, slots=True)
class _Given:
    """The commands that an event gives; `partial` is whether its comment holds others that were given before."""

    commands: tuple[Parsed, ...]
    partial: bool


def obey(event: CommentEvent, services: Services) -> None:
    """A person wrote or edited a comment with commands."""
    given = _given(event, services)
    if not given.commands or event.locked:
        return
    with visiting(event, services) as visit:
        if visit is not None:
            _obey(visit, event, given)


def _obey(visit: Visit, event: CommentEvent, given: _Given) -> None:
    commands = given.commands
    # The time tells a command from the same one that was taken out by an edit and put back by another.
    hashed = digest(event.updated_at, *(command.line for command in commands))
    kept = visit.services.store.comments.get(visit.repository.id, visit.number, event.comment_id)
    if kept is not None and kept.text_hash == hashed:
        # A repeated delivery.
        return
    ask = Ask(visit, event, visit.github.issue(visit.repo, visit.number))
    if ask.issue.locked:
        return
    if not _within_limit(ask, commands, hashed):
        if _first_refusal(ask, hashed):
            _reply(ask, [("", Answer(False, ask.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)))], hashed)
        return
    # Where the comment was deleted meanwhile, the wish went with it: NotFound ends this.
    commands, written = _standing(visit, event, commands)
    if not commands:
        return
    me = visit.github.react(visit.repo, event.comment_id, "eyes")
    answers = [(command.line, _answer(ask, command, again=at > 0)) for at, command in enumerate(commands)]
    well = all(answer.ok for _, answer in answers)
    # Before the reply, after which the delivery counts as answered: where GitHub is away just then, it comes again.
    # What the comment said before an edit may have gone the other way, and so may a try before this one.
    visit.github.unreact(visit.repo, event.comment_id, "-1" if well else "+1", me)
    visit.github.react(visit.repo, event.comment_id, "+1" if well else "-1")
    _reply(ask, answers, hashed, partial=given.partial, written=written)


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a comment of a bot's: if it was ours, it is never posted again.

    Where GitHub's answer to the first had been lost, another may have been written in its place before this was heard
    of. That one is taken back.
    """
    # Anybody can write a marker.
    place = answered_by(event.body) if event.app == services.settings.app_id else None
    comments, where = services.store.comments, (event.repository.id, event.number)
    if place is not None and comments.get(*where, place) is None:
        # All that was known may have gone with the issue, of which nothing is noted then: NotFound ends this.
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.issue(visit.repo, visit.number)
    comments.mark_deleted(*where, event.comment_id, services.now(), place)
    kept = None if place is None else comments.get(*where, place)
    # Of two that there are the older is kept; so a younger one was written when this was gone.
    if kept is not None and kept.comment_id is not None and kept.comment_id > event.comment_id:
        comments.mark_deleted(*where, kept.comment_id, services.now())
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.delete_comment(visit.repo, kept.comment_id)


def _given(event: CommentEvent, services: Services) -> _Given:
    """The commands to carry out: each once, and after an edit only those whose line is new (C1).

    Who edits another's comment gives only what they have written themselves: to take out a line above it, or what made
    it a quote or code, must not give in their name what the author may not.
    """
    hosts = hosts_of(services.settings.github_api_url)
    now = parse(event.body, event.repository.ref, hosts)
    before = parse(event.previous, event.repository.ref, hosts) if event.action == "edited" else ()
    if [one.line for one in before] == [one.line for one in now]:
        return _Given((), partial=True)
    # One beyond the most that a comment may hold was not carried out, and is when others make place for it.
    known = {one.line for one in before if not (isinstance(one, Invalid) and one.problem is Problem.TOO_MANY)}
    if event.by_another:
        known |= {one.line for one in now if is_written(one.line, event.previous, event.body)}
    new = {one.line: one for one in now if one.line not in known}
    return _Given(tuple(new.values()), partial=any(one.line in known for one in now))


def _standing(visit: Visit, event: CommentEvent, commands: Sequence[Parsed]) -> tuple[tuple[Parsed, ...], datetime]:
    """Those commands whose lines the comment still has, and when it was written; an edit before the bot came to them
    withdraws the others.

    An event can be late, and come after that of a later edit. Raises NotFound where the comment was deleted.
    """
    comment = visit.github.comment(visit.repo, event.comment_id)
    hosts = hosts_of(visit.services.settings.github_api_url)
    lines = {one.line for one in parse(comment.body, visit.repo, hosts)}
    return tuple(one for one in commands if one.line in lines), comment.created_at


def _within_limit(ask: Ask, commands: Sequence[Parsed], hashed: str) -> bool:
    """Whether this person may give commands now (C5). People with triage access are limited only where others are."""
    for_anyone = [one for one in commands if not isinstance(one, Command) or one.row.who is Requirement.ANYONE]
    limited = for_anyone if len(for_anyone) < len(commands) and ask.may(Requirement.TRIAGE) else commands
    return _allow(ask, ask.login, len(limited), COMMANDS_LIMIT, hashed)


def _first_refusal(ask: Ask, hashed: str) -> bool:
    """Whether they have not been told yet; answering each of a flood of comments would make a second flood."""
    # No login contains a space, so that this counts apart from the commands.
    return _allow(ask, f"{ask.login} told", 1, 1, hashed)


def _allow(ask: Ask, who: str, count: int, limit: int, hashed: str) -> bool:
    # A redelivery is the same use; an edit of the commands is another one.
    services, uses = ask.visit.services, [f"{ask.command_id} {hashed} {at}" for at in range(count)]
    return services.store.usage.allow(
        ask.visit.repository.id, who, uses, limit=limit, window=LIMIT_SECONDS, now=services.now()
    )


def _answer(ask: Ask, parsed: Parsed, *, again: bool) -> Answer:
    """Carry out one command. What GitHub refuses is told; what may succeed later goes through to the queue.

    `again` is whether another command of the comment went before: this one acts on what that has left behind.
    """
    if isinstance(parsed, Misspelt):
        return Answer(False, ask.replies.misspelt(parsed))
    if isinstance(parsed, Invalid):
        return Answer(False, ask.replies.invalid(parsed))
    try:
        if again:
            ask.issue = ask.visit.github.issue(ask.visit.repo, ask.visit.number)
        if not ask.may(parsed.row.who):
            return Answer(False, ask.replies.forbidden(parsed.row))
        return CARRY_OUT[parsed.name](ask, parsed)
    except GitHubError as refusal:
        # The answers to the commands before it must not get lost.
        logger.warning("%s refused in %s: %s", parsed.name or "re-check", ask.visit.repo, refusal)
        return Answer(False, ask.replies.github_refused(refusal.detail))


def _reply(
    ask: Ask,
    answers: Sequence[tuple[str, Answer]],
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
    slot = Slot(
        visit.repository.id,
        visit.repo,
        visit.number,
        lambda body: is_reply_to(body, ask.command_id),
        ask.command_id,
        # A reply comes later; the second is for a server that takes this to mean after it.
        None if written is None else written - timedelta(seconds=1),
    )
    if not texts:
        if not partial:
            visit.services.comments.remove(visit.github, slot, hashed)
        return
    if visit.settings.problems:
        line, text = texts[-1]
        settings = visit.settings
        problems = ask.replies.settings_problems(settings.problems, settings.source, settings.private)
        texts[-1] = (line, f"{text}\n\n{problems}")
    body = render_reply(ask.command_id, texts, partial=partial)
    # A reply can be there without our knowing: the store may be new, or older than it. Besides the command itself there
    # must be another comment then.
    look = written is not None and ask.issue.comments > 1
    visit.services.comments.keep(visit.github, slot, Draft(body, digest(body), hashed), look=look)
