"""Comments with `/duplicates` commands: acknowledged, carried out in order, answered in one reply (C2, C4, C5)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from bot.commands import Command, Invalid, Misspelt, Name, Parsed, Requirement, parse
from bot.comments import Draft, Slot, digest
from bot.errors import Forbidden, NotFound
from bot.errors import Invalid as Refused
from bot.events import CommentEvent
from bot.render import is_reply_to, render_reply, replies
from bot.services import Services
from handlers import duplicate, looking, muting, verdicts
from handlers.ask import Answer, Ask
from handlers.visit import Visit, visiting

logger = logging.getLogger(__name__)

# A person may give this many commands that anybody may give within the time; each can cost several searches.
COMMANDS_LIMIT = 20
LIMIT_SECONDS = 600.0

_CARRY_OUT: dict[Name, Callable[[Ask, Command], Answer]] = {
    Name.RECHECK: looking.recheck,
    Name.SEARCH: looking.recheck,
    Name.EXPLAIN: looking.explain,
    Name.NOT: verdicts.reject,
    Name.OF: duplicate.close_as_duplicate,
    Name.UNDO: verdicts.undo,
    Name.MUTE: muting.mute,
    Name.UNMUTE: muting.unmute,
    Name.SCAN: looking.scan,
    Name.HELP: looking.show_help,
}


def obey(event: CommentEvent, services: Services) -> None:
    """A person wrote or edited a comment with commands."""
    commands = _wanted(event, services)
    if not commands or event.locked:
        return
    with visiting(event, services) as visit:
        if visit is not None:
            _obey(visit, event, commands)


def _obey(visit: Visit, event: CommentEvent, commands: Sequence[Parsed]) -> None:
    hashed = digest(*(command.line for command in commands))
    kept = visit.services.store.comments.get(visit.repository.id, visit.number, event.comment_id)
    if kept is not None and kept.text_hash == hashed:
        # A repeated delivery.
        return
    ask = Ask(visit, event, visit.github.issue(visit.repo, visit.number))
    if ask.issue.locked:
        return
    if not _within_limit(ask, commands, hashed):
        if _first_refusal(ask, hashed):
            _reply(ask, [("", Answer(False, replies.rate_limited(LIMIT_SECONDS)))], hashed)
        return
    try:
        visit.github.react(visit.repo, event.comment_id, "eyes")
    except NotFound:
        # The comment was deleted meanwhile, and with it the wish.
        return
    answers: list[tuple[str, Answer]] = []
    for command in commands:
        if answers:
            # A command acts on what the one before it has left behind.
            ask.issue = visit.github.issue(visit.repo, visit.number)
        answers.append((command.line, _answer(ask, command)))
    _reply(ask, answers, hashed)
    visit.github.react(visit.repo, event.comment_id, "+1" if all(answer.ok for _, answer in answers) else "-1")


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a comment of a bot's: if it was ours, it is never posted again."""
    services.store.comments.mark_deleted(event.repository.id, event.number, event.comment_id, services.now())


def _wanted(event: CommentEvent, services: Services) -> tuple[Parsed, ...]:
    """The commands to carry out: each once, and after an edit none unless a command line changed (C1)."""
    host = urlsplit(services.settings.github_api_url).hostname or ""
    host = "github.com" if host == "api.github.com" else host
    now = parse(event.body, event.repository.ref, host)
    if event.action == "edited":
        before = parse(event.previous, event.repository.ref, host)
        if [one.line for one in before] == [one.line for one in now]:
            return ()
    return tuple({one.line: one for one in now}.values())


def _within_limit(ask: Ask, commands: Sequence[Parsed], hashed: str) -> bool:
    """Whether this person may give commands now (C5). People with triage access are limited only where others are."""
    for_anyone = any(not isinstance(one, Command) or one.row.who is Requirement.ANYONE for one in commands)
    return (not for_anyone and ask.may(Requirement.TRIAGE)) or _allow(ask, ask.login, COMMANDS_LIMIT, hashed)


def _first_refusal(ask: Ask, hashed: str) -> bool:
    """Whether they have not been told yet; answering each of a flood of comments would make a second flood."""
    # No login contains a space, so that this counts apart from the commands.
    return _allow(ask, f"{ask.login} told", 1, hashed)


def _allow(ask: Ask, who: str, limit: int, hashed: str) -> bool:
    # A redelivery is the same use; an edit of the commands is another one.
    services, use = ask.visit.services, f"{ask.command_id} {hashed}"
    return services.store.usage.allow(
        ask.visit.repository.id, who, use, limit=limit, window=LIMIT_SECONDS, now=services.now()
    )


def _answer(ask: Ask, parsed: Parsed) -> Answer:
    """Carry out one command. What GitHub refuses is told; what may succeed later goes through to the queue."""
    if isinstance(parsed, Misspelt):
        return Answer(False, replies.misspelt(parsed))
    if isinstance(parsed, Invalid):
        return Answer(False, replies.invalid(parsed))
    if not ask.may(parsed.row.who):
        return Answer(False, replies.forbidden(parsed.row))
    try:
        return _CARRY_OUT[parsed.name](ask, parsed)
    except (Forbidden, Refused) as refusal:
        logger.warning("%s refused in %s: %s", parsed.name or "re-check", ask.visit.repo, refusal)
        return Answer(False, replies.github_refused(refusal.detail))


def _reply(ask: Ask, answers: Sequence[tuple[str, Answer]], hashed: str) -> None:
    """Keep the one reply to this comment; a re-check that went well needs none."""
    visit = ask.visit
    texts = [(line, answer.text) for line, answer in answers if answer.text]
    slot = Slot(
        visit.repository.id,
        visit.repo,
        visit.number,
        lambda body: is_reply_to(body, ask.command_id),
        ask.command_id,
    )
    if not texts:
        visit.services.comments.remove(visit.github, slot, hashed)
        return
    if visit.settings.problems:
        line, text = texts[-1]
        settings = visit.settings
        problems = replies.settings_problems(settings.problems, settings.source, settings.private)
        texts[-1] = (line, f"{text}\n\n{problems}")
    body = render_reply(ask.command_id, texts)
    visit.services.comments.keep(visit.github, slot, Draft(body, digest(body), hashed))
