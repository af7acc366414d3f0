"""How many commands one person may give, so that nobody has the bot write without end (C5)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands import COMMANDS_LIMIT, LIMIT_SECONDS, Command, Parsed, Requirement
from handlers.commands.ask import Ask


def within_limit(ask: Ask, commands: Sequence[Parsed], hashed: str) -> bool:
    """Whether this person may give commands now (C5). People with triage access are limited only where others are."""
    for_anyone = [one for one in commands if not isinstance(one, Command) or one.row.who is Requirement.ANYONE]
    limited = for_anyone if len(for_anyone) < len(commands) and ask.may(Requirement.TRIAGE) else commands
    return _allow(ask, ask.login, len(limited), COMMANDS_LIMIT, hashed)


def first_refusal(ask: Ask, hashed: str) -> str:
    """What they are told; empty where they have been. To answer each of a flood of comments would make a second one."""
    # No login contains a space, so that this counts apart from the commands.
    tell = _allow(ask, f"{ask.login} told", 1, 1, hashed)
    return ask.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS) if tell else ""


def _allow(ask: Ask, who: str, count: int, limit: int, hashed: str) -> bool:
    # A redelivery is the same use; an edit of the commands is another one.
    services, uses = ask.visit.services, [f"{ask.command_id} {hashed} {at}" for at in range(count)]
    return services.store.usage.allow(
        ask.visit.repository.id, who, uses, limit=limit, window=LIMIT_SECONDS, now=services.now()
    )
