"""C4: what the bot says is no command, whoever made it say so."""

from __future__ import annotations

from tests.e2e.harness import BOT, Doppel

FIRST = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7`.")
AGAIN = ("Exporting to PDF crashes", "I see `PdfRenderError: page 7` when exporting.")


def test_c4_the_bots_own_words_are_no_command(doppel: Doppel) -> None:
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    doppel.sim.comment(doppel.repo, 2, doppel.sim.who(BOT, "Bot"), "/duplicates of #1")
    doppel.settle()
    assert doppel.said(2)[1:] == ["/duplicates of #1"]
    assert doppel.sim.issue(doppel.repo, 2).state == "open"


def test_c4_a_command_written_into_the_bots_comment_is_none(doppel: Doppel) -> None:
    """A triager may edit it, and whoever reads it later would not know who has commanded."""
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    (comment,) = doppel.sim.comments(doppel.repo, 2)
    doppel.edit(comment, f"{comment.body}\n\n/duplicates of #1", "triage-person")
    assert len(doppel.said(2)) == 1
    assert doppel.sim.issue(doppel.repo, 2).state == "open"
