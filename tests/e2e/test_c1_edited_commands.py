"""C1: what the edit of a comment with commands gives, and what becomes of its reply and its reactions."""

from __future__ import annotations

from tests.e2e.harness import Doppel
from tests.e2e.reports import rejected, reply


def test_c1_an_edited_command_edits_its_reply(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates explian #1", "reporter")
    before = [one.id for one in pair.sim.comments(pair.repo, 2)]
    pair.edit(comment, "/duplicates not #1")
    assert reply(pair).startswith("Noted: ")
    assert [one.id for one in pair.sim.comments(pair.repo, 2)] == before


def test_c1_an_edit_that_leaves_the_command_as_it_was_is_no_command(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates not #1", "reporter")
    pair.write(2, "/duplicates undo", "reporter")
    pair.edit(comment, "As I said:\n\n/duplicates not #1")
    assert pair.services.store.verdicts.rejected(pair.repository.id, 2) == set()
    assert len(pair.said(2)) == 3


def test_c1_an_edit_to_a_recheck_takes_the_reply_away(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicate", "reporter")
    assert "Did you mean `/duplicates`?" in reply(pair)
    pair.edit(comment, "/duplicates")
    assert len(pair.said(2)) == 1


def test_c2_a_reply_of_which_a_restored_store_knows_nothing_is_taken_away_as_well(pair: Doppel) -> None:
    """It was written after the backup, and stayed beside the answer to what the comment says now."""
    comment = pair.write(2, "/duplicate", "reporter")
    assert "Did you mean `/duplicates`?" in reply(pair)
    pair.services.store.forget_issue(pair.repository.id, 2)
    pair.edit(comment, "/duplicates")
    assert len(pair.said(2)) == 1


def test_c4_of_the_thumbs_only_that_of_the_last_edit_stays(pair: Doppel) -> None:
    """People's own stay, whichever way they go."""
    comment = pair.write(2, "/duplicate", "reporter")
    for content in ("-1", "+1"):
        pair.sim.react(comment, "triage-person", content)
    assert pair.reactions(comment) == ["eyes", "-1"]
    pair.edit(comment, "/duplicates")
    assert pair.reactions(comment) == ["eyes", "+1"]
    pair.edit(comment, "/duplicates not #99")
    assert pair.reactions(comment) == ["eyes", "-1"]
    assert len(comment.reactions) == 4
    assert reply(pair).startswith("There is no issue ")


def test_c1_an_edit_gives_only_the_commands_whose_lines_it_changed(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates of #1", "triage-person")
    assert pair.said(2)
    pair.do.reopen_issue(pair.repo, 2, "admin-person")
    pair.edit(comment, "/duplicates of #1\n/duplicates mute")
    assert pair.sim.issue(pair.repo, 2).state == "open", "of was given before, and somebody has decided otherwise since"
    assert pair.said(2)[1].partition("\n")[2] == (
        "`/duplicates mute`\n\nQuiet from now on: this issue is left alone. `/duplicates unmute` changes that.\n"
    )


def test_c1_an_edit_that_adds_a_recheck_leaves_the_reply_to_the_rest(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates not #1", "reporter")
    before = pair.said(2)[1]
    searches = pair.searches()
    pair.edit(comment, "/duplicates not #1\n/duplicates fresh")
    assert pair.searches() > searches
    assert pair.said(2)[1] == before


def test_c1_a_command_that_is_taken_out_and_put_back_is_given_again(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates not #1", "reporter")
    pair.write(2, "/duplicates undo", "reporter")
    assert pair.said(2)
    for body in ("Let me think.", "/duplicates not #1"):
        pair.sim.clock.advance(5)
        pair.edit(comment, body)
    assert rejected(pair) == {1}
    assert pair.said(2)
