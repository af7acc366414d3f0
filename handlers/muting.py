"""`mute` and `unmute`: whether an issue is looked at when it changes by itself (C4). Commands work either way."""

from __future__ import annotations

from bot.commands import Command
from handlers.ask import Answer, Ask


def mute(ask: Ask, command: Command) -> Answer:
    """`mute`: leave this issue alone from now on."""
    visit, muted = ask.visit, ask.visit.services.store.muted
    already = muted.is_muted(visit.repository.id, visit.number)
    muted.set(visit.repository.id, visit.number, ask.login, visit.services.now())
    return Answer(True, ask.replies.muted(already))


def unmute(ask: Ask, command: Command) -> Answer:
    """`unmute`: look at this issue again when it changes."""
    visit, muted = ask.visit, ask.visit.services.store.muted
    already = not muted.is_muted(visit.repository.id, visit.number)
    muted.clear(visit.repository.id, visit.number)
    return Answer(True, ask.replies.unmuted(already))
