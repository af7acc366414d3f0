"""How many commands people may give who have no triage access, so that nobody has the bot write without end (C5).

GitHub lets an installation create 500 comments, reactions and the like an hour, and 80 a minute. A command costs three
to five of these. All strangers together get 60 commands an hour and 10 a minute, in all repositories of the
installation, so that more than a third of either is left for advisory comments and for people with triage access.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands import COMMANDS_LIMIT, LIMIT_SECONDS, Requirement
from bot.store.parts.usage import Limit
from handlers.commands.ask import Ask

TOGETHER = (Limit(60, LIMIT_SECONDS, together=True), Limit(10, 60.0, together=True))
"""The share of strangers. Who comes when it is used up is not answered: that would cost what is saved."""


def refuse(ask: Ask, commands: int, hashed: str) -> str | None:
    """What is answered to a person who may not give so many commands now, empty for nothing; None where they may (C5).

    Who goes beyond their own limit is told once: an answer to each of a flood of comments would make a second flood.
    """
    if ask.may(Requirement.TRIAGE):
        return None
    own = Limit(COMMANDS_LIMIT, LIMIT_SECONDS)
    limit = _refuse(ask, ask.login, commands, (own, *TOGETHER), hashed)
    if limit is None:
        return None
    # No login contains a space, so that this counts apart from the commands.
    if limit.together or _refuse(ask, f"{ask.login} told", 1, (Limit(1, LIMIT_SECONDS),), hashed):
        return ""
    return ask.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)


def _refuse(ask: Ask, who: str, count: int, limits: Sequence[Limit], hashed: str) -> Limit | None:
    # A redelivery is the same use; an edit of the commands is another one.
    services, uses = ask.visit.services, [f"{ask.command_id} {hashed} {at}" for at in range(count)]
    return services.store.usage.refuse(ask.visit.repository.id, who, uses, limits, services.now())
