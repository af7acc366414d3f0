"""`mute` and `unmute`: whether an issue is looked at when it changes by itself (C4). Commands work either way."""

from __future__ import annotations

from bot.commands import Command
from bot.model import same_login
from handlers.advice.advice import refresh
from handlers.commands.ask import Answer, Ask


def mute(ask: Ask, command: Command) -> Answer:
    """`mute`: leave this issue alone from now on.

    Where they have muted it themselves this may be the same command, carried out once more after a crash: it is
    answered as at first.
    """
    visit, muted = ask.visit, ask.visit.services.store.muted
    by = muted.by(visit.repository.id, visit.number)
    already = by is not None and not same_login(by, ask.login)
    muted.set(visit.repository.id, visit.number, ask.login, visit.services.now())
    return Answer(True, ask.replies.muted(already))


def unmute(ask: Ask, command: Command) -> Answer:
    """`unmute`: look at this issue again when it changes.

    Its comment is brought up to date with what was decided meanwhile, which it was not told of. That comes first: if it
    fails, the command is carried out once more and answered as it would have been.
    """
    visit, muted = ask.visit, ask.visit.services.store.muted
    already = not visit.muted
    if not already:
        refresh(visit, ask.issue)
    muted.clear(visit.repository.id, visit.number)
    return Answer(True, ask.replies.unmuted(already))
