"""The one reply to a comment with commands, kept as their answers say (C2), and how many commands people may give who
have no triage access, so that nobody has the bot write without end (C5).

GitHub lets an installation create 500 comments, reactions and the like an hour, and 80 a minute. A command costs three
to five of these. All strangers together get 60 commands an hour and 10 a minute, in all repositories of the
installation, so that more than a third of either is left for advisory comments and for people with triage access.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.conversation.commands import COMMANDS_LIMIT, LIMIT_SECONDS, Requirement
from bot.conversation.posts.comments import digest
from bot.conversation.posts.marker import is_reply_to
from bot.conversation.posts.record import Draft, Slot
from bot.conversation.render import render_reply
from bot.storage.commands import UsageLimit
from handlers.commands.ask import Answer, Ask


def reply(
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
    visit.services.comments.keep(visit.github, slot, Draft(body, digest(body), hashed), look=look)


TOGETHER = (UsageLimit(60, LIMIT_SECONDS, together=True), UsageLimit(10, 60.0, together=True))
"""The share of strangers. Who comes when it is used up is not answered: that would cost what is saved."""


def refuse(ask: Ask, commands: int, hashed: str) -> str | None:
    """What is answered to a person who may not give so many commands now, empty for nothing; None where they may (C5).

    Who goes beyond their own limit is told once: an answer to each of a flood of comments would make a second flood.
    """
    if ask.may(Requirement.TRIAGE):
        return None
    own = UsageLimit(COMMANDS_LIMIT, LIMIT_SECONDS)
    limit = _counted(ask, ask.login, commands, (own, *TOGETHER), hashed)
    if limit is None:
        return None
    # No login contains a space, so that this counts apart from the commands.
    if limit.together or _counted(ask, f"{ask.login} told", 1, (UsageLimit(1, LIMIT_SECONDS),), hashed):
        return ""
    return ask.replies.rate_limited(COMMANDS_LIMIT, LIMIT_SECONDS)


def _counted(ask: Ask, who: str, count: int, limits: Sequence[UsageLimit], hashed: str) -> UsageLimit | None:
    # A redelivery is the same use; an edit of the commands is another one.
    services, uses = ask.visit.services, [f"{ask.command_id} {hashed} {at}" for at in range(count)]
    return services.store.usage.refuse(ask.visit.repository.id, who, uses, limits, services.now())
