"""The one reply to a comment with commands, kept as their answers say (C2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.posts.comments import digest
from bot.posts.marker import is_reply_to
from bot.posts.slot import Draft, Slot
from bot.render import render_reply
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
