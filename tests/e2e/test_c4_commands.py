"""C4: every command, from the comment to the reply, the reactions and what changed on GitHub."""

from __future__ import annotations

import re

import pytest

from tests.e2e.harness import BOT, Doppel
from tests.e2e.reports import AGAIN, OTHER, reply


def comment_on_first(doppel: Doppel) -> int:
    """The bot's first comment on #2."""
    return next(one.id for one in doppel.sim.comments(doppel.repo, 2) if one.author.login == BOT)


LINK = "[#{0}](https://redirect.github.com/acme/app/issues/{0})"


def test_c4_a_command_is_acknowledged_before_and_after(pair: Doppel) -> None:
    assert pair.reactions(pair.write(2, "Thanks!\n\n/duplicates")) == ["eyes", "+1"]
    assert pair.reactions(pair.write(2, "/duplicates of #1", "stranger")) == ["eyes", "-1"]
    assert reply(pair)


def test_c4_a_re_check_is_answered_with_a_link_to_the_comment_that_is_far_above(pair: Doppel) -> None:
    pair.write(2, "/duplicates")
    assert len(pair.said(2)) == 1
    for _ in range(10):
        pair.sim.comment(pair.repo, 2, "ann", "Same here.")
    pair.write(2, "/duplicates")
    assert reply(pair) == f"The list is up to date: [it is above](#issuecomment-{comment_on_first(pair)})."


def test_c4_talk_about_commands_is_no_command(pair: Doppel) -> None:
    for body in ("> /duplicates", "```\n/duplicates\n```", "Use `/duplicates` for that.", "<!--\n/duplicates\n-->"):
        assert pair.reactions(pair.write(2, body)) == []
    assert len(pair.said(2)) == 1


def test_c4_a_misspelt_command_is_answered_with_the_nearest(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates explian #1")
    assert reply(pair) == "`explian` is not something I know. Did you mean `/duplicates explain #1`?"
    assert pair.reactions(comment) == ["eyes", "-1"]


def test_c4_search_with_words_of_ones_own(pair: Doppel) -> None:
    pair.open("Printing takes minutes", "The print dialog hangs.")
    assert pair.said(3) == []
    pair.write(3, "/duplicates search exporting PdfRenderError all confidence=0 limit=1")
    advice = pair.advice(3)
    assert "Searched for `exporting` `PdfRenderError`." in advice
    assert advice.count("redirect.github.com") == 1


def test_c4_a_search_for_one_word_shows_what_the_issue_itself_makes_likely(pair: Doppel) -> None:
    told = pair.advice(2).partition("\n1. ")[2]
    assert told.startswith(LINK.format(1))
    pair.write(2, "/duplicates search exporting")
    searched = pair.advice(2)
    assert "Searched for `exporting`." in searched
    assert searched.partition("\n1. ")[2] == told


def test_c4_a_search_that_finds_nothing_likely_says_so_and_what_comes_nearest(pair: Doppel) -> None:
    pair.write(2, "/duplicates search exporting confidence=1")
    advice = pair.advice(2)
    assert "**No earlier issue that looks like this one was found.**" in advice
    assert "Only issues that are at least 100% likely to be the same are shown." in advice
    assert f"The closest is {LINK.format(1)}, " in advice
    (option,) = re.findall(r"add `(confidence=[0-9.]+)` to the end of a command to see it", advice)
    pair.write(2, f"/duplicates search exporting {option}")
    assert f"1. {LINK.format(1)} Crash while exporting to PDF" in pair.advice(2)


def test_f9_a_search_for_words_that_say_nothing_is_no_search(pair: Doppel) -> None:
    """Whatever the issue itself says: it is not what is searched for."""
    pair.open(*OTHER)
    pair.write(3, "/duplicates search in")
    advice = pair.advice(3)
    assert "**This could not be checked:** there was nothing specific enough to search for." in advice
    assert "No earlier issue" not in advice
    with pair.before_backfill():
        pair.write(3, "/duplicates search for the")
    assert "**This could not be checked:**" in pair.advice(3)
    pair.write(3, "/duplicates search lightmode")
    assert "**The closest earlier issues:**\n\nSearched for `lightmode`." in pair.advice(3)


def test_c4_options_narrow_what_is_shown(pair: Doppel) -> None:
    pair.sim.close_issue(pair.repo, 1, "triage-person", "not_planned")
    # Two issues are worked on side by side: the command could come before the closing is in the index.
    pair.settle()
    pair.write(2, "/duplicates open fresh")
    assert "Only open issues were looked at." in pair.advice(2)
    assert "redirect" not in pair.advice(2)
    pair.write(2, "/duplicates closed")
    assert "closed as not planned" in pair.advice(2)
    pair.write(2, "/duplicates threshold=1")
    assert "redirect" not in pair.advice(2)


def test_c4_more_are_shown_than_the_settings_say_where_a_command_asks_for_them(pair: Doppel) -> None:
    pair.configure("max_candidates: 1\n")
    pair.open(*AGAIN, author="dan")
    assert pair.advice(3).count("redirect.github.com") == 1
    pair.write(3, "/duplicates confidence=0 limit=2")
    assert pair.advice(3).count("redirect.github.com") == 2


def test_c4_explain_an_issue_that_was_shown_and_one_that_was_not(pair: Doppel) -> None:
    pair.write(2, "/duplicates explain #1")
    assert reply(pair).startswith(f"**{LINK.format(1)}** Crash while exporting to PDF")
    pair.open(*OTHER)
    with pair.before_backfill():
        comment = pair.write(2, "/duplicates explain #3")
    text = pair.said(2)[2]
    assert "None of the searches found it" in text
    assert pair.reactions(comment) == ["eyes", "+1"]


@pytest.fixture
def family(doppel: Doppel) -> Doppel:
    """Issue #2 was closed as a duplicate of #1, which is said otherwise; #3 repeats #2, and the comment shows #1."""
    doppel.read_before("Keyboard shortcuts stop responding", "Ctrl+K")
    doppel.open("Palette cannot be opened on Windows", "Ctrl+K palette", author="bob")
    doppel.said(2)
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    doppel.open("Palette cannot be opened on Windows 11", "Ctrl+K palette")
    assert f"1. {LINK.format(1)} Keyboard shortcuts" in doppel.advice(3)
    assert f"Also reported in {LINK.format(2)}" in doppel.advice(3)
    return doppel


def test_c4_explain_judges_an_issue_for_itself_and_names_the_duplicate_for_which_it_is_shown(family: Doppel) -> None:
    family.write(3, "/duplicates explain #1")
    family.write(3, "/duplicates explain #2")
    _, original, duplicate = family.said(3)
    shown, own, others, of_duplicate = percentages(family, 3)
    assert others == of_duplicate == shown > own
    titles = "Words in both titles: Palette"
    assert titles in duplicate and titles not in original
    assert f"\n- Its duplicate {LINK.format(2)}: " in original
    assert ", found by the full-text index" in original and "- Found by: the full-text index" in duplicate


def test_c4_a_threshold_says_that_the_title_of_a_duplicate_matched(family: Doppel) -> None:
    family.write(3, "/duplicates threshold=0.9")
    advice = family.advice(3)
    assert "Only titles at least 90% alike were looked at. Where a duplicate matched, its original is shown." in advice
    assert f"1. {LINK.format(1)} Keyboard shortcuts" in advice
    family.write(3, "/duplicates threshold=0.1")
    assert "Where a duplicate matched" not in family.advice(3)


def test_c4_explain_says_what_the_comment_said(pair: Doppel) -> None:
    """By now the issue is in the index itself."""
    pair.write(2, "/duplicates explain #1")
    comment, explained = percentages(pair)
    assert explained == comment
    assert len(pair.said(2)) == 2


def test_c4_explain_says_what_the_comment_said_however_many_report_it_afterwards(pair: Doppel) -> None:
    (said,) = percentages(pair)
    for number in range(3):
        pair.said(pair.open(*AGAIN, author=f"later-{number}").number)
    pair.write(2, "/duplicates explain #1")
    assert abs(percentages(pair)[1] - said) <= 10
    # Of what came later nothing was said before, and it is compared with everything.
    pair.write(2, "/duplicates explain #3")
    assert percentages(pair)[2] > 10
    assert len(pair.said(2)) == 3


def percentages(doppel: Doppel, number: int = 2) -> list[int]:
    """The probabilities that the bot's comments on an issue name."""
    bodies = [said.body for said in doppel.sim.issue(doppel.repo, number).comments if said.author.login == BOT]
    return [int(told) for body in bodies for told in re.findall(r"the same \((\d+)%\)", body)]


def test_c4_not_rejects_a_pair_for_good_in_both_directions(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates not #1")
    assert reply(pair) == (
        f"Noted: this issue and {LINK.format(1)} are different. Neither will be shown on the other again."
    )
    assert pair.said(2)[0].startswith("<!-- doppel:advice v1 -->\n**Nothing left to show:**")
    assert pair.reactions(comment) == ["eyes", "+1"]
    pair.write(2, "/duplicates fresh")
    assert "Nothing left to show" in pair.said(2)[0]
    pair.write(1, "/duplicates all confidence=0")
    assert "#2" not in pair.advice(1)


def test_c4_of_closes_as_githubs_own_duplicate(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates of #1", "triage-person")
    issue = pair.sim.issue(pair.repo, 2)
    assert (issue.state, issue.state_reason) == ("closed", "duplicate")
    assert issue.duplicate_of is pair.sim.issue(pair.repo, 1)
    assert [label.name for label in issue.labels] == ["duplicate"]
    assert reply(pair) == f"Closed: the discussion continues in {LINK.format(1)}."
    assert pair.reactions(comment) == ["eyes", "+1"]


REFUSED = [
    (1, "/duplicates of #2", f"{LINK.format(2)} is newer than this one. Close that one in favour of this one instead."),
    (2, "/duplicates of #2", "That is this issue itself. Give the number of another one."),
    (2, "/duplicates of #99", f"There is no issue {LINK.format(99)} here, or I am not allowed to see it."),
]


@pytest.mark.parametrize(("number", "command", "answer"), REFUSED)
def test_c4_of_is_refused(pair: Doppel, number: int, command: str, answer: str) -> None:
    comment = pair.write(number, command, "triage-person")
    assert pair.said(number)[-1].endswith(answer + "\n")
    assert pair.sim.issue(pair.repo, number).state == "open"
    assert pair.reactions(comment) == ["eyes", "-1"]
    assert pair.said(2)


def test_c4_of_is_refused_for_a_circle(pair: Doppel) -> None:
    pair.write(2, "/duplicates of #1", "triage-person")
    assert reply(pair)
    pair.write(1, "/duplicates of #2", "triage-person")
    assert pair.said(1)[0].endswith(
        f"That would make a circle: {LINK.format(2)} is itself closed in favour of this issue.\n"
    )
    assert pair.sim.issue(pair.repo, 1).state == "open"


def test_c4_of_is_refused_for_a_pull_request(pair: Doppel) -> None:
    pair.open(*OTHER)
    pair.open("Fix the crash", is_pull_request=True)
    pair.write(3, "/duplicates of #4", "triage-person")
    assert pair.said(3)[0].endswith(f"{LINK.format(4)} is a pull request; this command only takes issues.\n")


def test_c4_a_discussion_is_not_said_to_be_missing(pair: Doppel) -> None:
    """The bot may have shown it itself (H6)."""
    assert pair.sim.start_discussion(pair.repo, "ann", *OTHER).number == 3
    for command in ("not", "of", "explain"):
        pair.write(2, f"/duplicates {command} #3", "triage-person")
        assert pair.said(2)[-1].endswith(f"There is no issue {LINK.format(3)} here, or I am not allowed to see it.\n")


def test_c4_of_again_says_that_it_is_done(pair: Doppel) -> None:
    pair.write(2, "/duplicates of #1", "triage-person")
    comment = pair.write(2, "/duplicates of #1", "write-person")
    assert pair.said(2)[2].endswith(f"This issue is already closed in favour of {LINK.format(1)}.\n")
    assert pair.reactions(comment) == ["eyes", "+1"]


def test_c4_undo_of_of_opens_the_issue_and_takes_the_label_off(pair: Doppel) -> None:
    pair.write(2, "/duplicates of #1", "triage-person")
    pair.write(2, "/duplicates undo", "triage-person")
    issue = pair.sim.issue(pair.repo, 2)
    assert (issue.state, issue.labels, issue.duplicate_of) == ("open", [], None)
    assert pair.said(2)[2].endswith(f"Taken back: this issue is open again and no longer linked to {LINK.format(1)}.\n")


def test_c4_undo_of_of_leaves_a_label_that_was_there_and_a_closed_issue_closed(pair: Doppel) -> None:
    pair.sim.add_labels(pair.repo, 2, "Duplicate")
    pair.sim.close_issue(pair.repo, 2, "triage-person", "not_planned")
    pair.write(2, "/duplicates of #1\n/duplicates undo", "triage-person")
    issue = pair.sim.issue(pair.repo, 2)
    assert (issue.state, issue.state_reason) == ("closed", "not_planned")
    assert [label.name for label in issue.labels] == ["duplicate"]
    assert "closed, as it was before" in reply(pair)


def test_c4_undo_takes_back_one_decision_at_a_time(pair: Doppel) -> None:
    pair.open(*OTHER)
    pair.write(3, "/duplicates not #1\n/duplicates not #2", "reporter")
    assert pair.said(3)
    rejected = pair.services.store.verdicts.rejected
    assert rejected(pair.repository.id, 3) == {1, 2}
    pair.write(3, "/duplicates undo", "reporter")
    assert rejected(pair.repository.id, 3) == {1}
    pair.write(3, "/duplicates undo", "reporter")
    assert rejected(pair.repository.id, 3) == set()
    pair.write(3, "/duplicates undo", "reporter")
    assert pair.said(3)[-1].endswith("You have nothing to take back here.\n")


def test_c4_mute_and_unmute(pair: Doppel) -> None:
    pair.open(*OTHER)
    pair.write(3, "/duplicates mute", "reporter")
    pair.do.edit_issue(pair.repo, 3, title=AGAIN[0], body=AGAIN[1])
    (said,) = pair.said(3)
    assert said.endswith("Quiet from now on: this issue is left alone. `/duplicates unmute` changes that.\n")
    pair.write(3, "/duplicates unmute", "reporter")
    pair.do.edit_issue(pair.repo, 3, body=AGAIN[1] + " Often.")
    assert "This issue is looked at again." in pair.said(3)[1]
    assert "Crash while exporting to PDF" in pair.said(3)[2]


def test_c4_help_is_made_from_the_table(pair: Doppel) -> None:
    pair.write(2, "/duplicates help")
    assert "`/duplicates of #N` – Close this as a duplicate" in reply(pair)


def test_c4_several_commands_are_carried_out_in_order_and_answered_once(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates mute\n/duplicates xyzzy\n/duplicates unmute\n/duplicates", "reporter")
    assert reply(pair) == (
        "`/duplicates mute`\n\n"
        "Quiet from now on: this issue is left alone. `/duplicates unmute` changes that.\n\n"
        "`/duplicates xyzzy`\n\n"
        "`xyzzy` is not something I know. `/duplicates help` lists what I do.\n\n"
        "`/duplicates unmute`\n\n"
        "This issue is looked at again."
    )
    assert pair.reactions(comment) == ["eyes", "-1"]


def test_c4_a_line_that_is_repeated_is_carried_out_once_and_is_not_one_too_many(pair: Doppel) -> None:
    others = "/duplicates explain #1\n/duplicates search PDF\n/duplicates undo\n/duplicates help\n"
    comment = pair.write(2, f"/duplicates not #1\n{others}/duplicates not #1\n", "reporter")
    assert pair.services.store.verdicts.rejected(pair.repository.id, 2) == set(), "it was undone once"
    assert reply(pair).startswith("`/duplicates not #1`\n\nNoted: ")
    assert reply(pair).count("`/duplicates not #1`") == 1
    assert "Only the first 5 commands" not in reply(pair)
    assert pair.reactions(comment) == ["eyes", "+1"]


def test_c4_a_command_on_a_closed_issue_works(pair: Doppel) -> None:
    pair.sim.close_issue(pair.repo, 2, "triage-person", "completed")
    pair.write(2, "/duplicates not #1", "reporter")
    assert reply(pair).startswith("Noted: ")
    assert "Nothing left" in pair.said(2)[0]


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
