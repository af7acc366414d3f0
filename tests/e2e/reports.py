"""Two reports of one thing and one of another, and what the bot says and keeps about the second."""

from __future__ import annotations

from bot.quality.calibration import current_feedback
from bot.simulator.state.issues import Comment
from handlers.scheduled.repository_tasks import poll_feedback
from tests.e2e.harness import BOT, Doppel

FIRST = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7`.")
AGAIN = ("Exporting to PDF crashes", "I see `PdfRenderError: page 7` when exporting.")
OTHER = ("Dark mode for the settings page", "Please add it.")

Said = list[tuple[int, int, bool, str, str, float]]


def reply(doppel: Doppel, number: int = 2) -> str:
    """The bot's second comment, without its marker."""
    (_, answer) = doppel.said(number)
    return answer.partition("\n")[2].rstrip("\n")


def rejected(doppel: Doppel, number: int = 2) -> set[int]:
    """The issues that are rejected as originals of one."""
    return doppel.services.store.verdicts.rejected(doppel.repository.id, number)


def said(doppel: Doppel) -> Said:
    """The labelled pairs: the two numbers, whether they are the same, how and with which right, and the weight."""
    made = current_feedback(doppel.services.store, doppel.repository.id, doppel.services.now())
    return [(one.number, one.other, one.same, one.kind.value, one.who.value, one.weight) for one in made]


def comment_on(doppel: Doppel, number: int) -> Comment:
    (comment,) = [one for one in doppel.sim.comments(doppel.repo, number) if one.author.login == BOT]
    return comment


def poll(doppel: Doppel) -> None:
    """An hour later."""
    doppel.sim.clock.advance(3600)
    doppel.turn(poll_feedback)
