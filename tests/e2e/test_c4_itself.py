"""C4: what the bot says is no command, whoever made it say so."""

from __future__ import annotations

from tests.e2e.harness import BOT, Doppel


def test_c4_the_bots_own_words_are_no_command(pair: Doppel) -> None:
    pair.do.comment(pair.repo, 2, pair.sim.who(BOT, "Bot"), "/duplicates of #1")
    assert pair.said(2)[1:] == ["/duplicates of #1"]
    assert pair.sim.issue(pair.repo, 2).state == "open"


def test_c4_a_command_written_into_the_bots_comment_is_none(pair: Doppel) -> None:
    """A triager may edit it, and whoever reads it later would not know who has commanded."""
    (comment,) = pair.sim.comments(pair.repo, 2)
    pair.edit(comment, f"{comment.body}\n\n/duplicates of #1", "triage-person")
    assert len(pair.said(2)) == 1
    assert pair.sim.issue(pair.repo, 2).state == "open"
