"""C7: a new title after which a candidate is gone says that it was another issue."""

from __future__ import annotations

import pytest

from bot.simulator.state.issues import Comment
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST, OTHER, said


def test_c7_a_new_title_after_which_a_candidate_is_gone(doppel: Doppel, commented: Comment) -> None:
    doppel.do.edit_issue(doppel.repo, 2, title=OTHER[0], body=OTHER[1])
    doppel.said(2)
    assert said(doppel) == [(2, 1, False, "retitled", "author", 0.25)]
    doppel.do.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    doppel.said(2)
    assert said(doppel) == []


def test_c7_a_new_title_counts_though_a_bot_has_edited_the_text_before(doppel: Doppel, commented: Comment) -> None:
    doppel.do.edit_issue(doppel.repo, 2, body=f"{AGAIN[1]}\n\nVersion 3.2", actor="helper[bot]")
    doppel.do.edit_issue(doppel.repo, 2, title=OTHER[0], body=OTHER[1])
    doppel.said(2)
    assert said(doppel) == [(2, 1, False, "retitled", "author", 0.25)]


@pytest.mark.parametrize("words", ["", " search PdfRenderError confidence=0"])
def test_c7_a_new_title_counts_though_a_command_has_answered_it_at_once(
    doppel: Doppel, commented: Comment, words: str
) -> None:
    """An edit waits some seconds, and commands do not."""
    doppel.sim.edit_issue(doppel.repo, 2, title=OTHER[0], body=OTHER[1])
    doppel.write(2, f"/duplicates{words}", "triage-person")
    assert "\n1. [#1]" in doppel.said(2)[0], "who asks gets the best there is"
    assert said(doppel) == [(2, 1, False, "retitled", "author", 0.25)]


def test_c7_a_title_that_leads_to_the_candidate_says_nothing_though_a_command_has_looked_elsewhere(
    doppel: Doppel, commented: Comment
) -> None:
    doppel.do.close_issue(doppel.repo, 1, actor="maintainer")
    doppel.sim.edit_issue(doppel.repo, 2, title=f"{AGAIN[0]} again")
    doppel.write(2, "/duplicates search dark mode of settings open", "triage-person")
    assert "[#1]" not in doppel.said(2)[0]
    assert said(doppel) == []


def test_c7_a_new_title_says_nothing_of_what_only_a_command_had_asked_for(doppel: Doppel) -> None:
    doppel.configure("min_confidence: 0.999\n")
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    doppel.write(2, "/duplicates confidence=0.1", "reporter")
    assert "#1]" in doppel.advice(2)
    doppel.do.edit_issue(doppel.repo, 2, title="Exporting to PDF crashes!")
    assert "#1]" not in doppel.advice(2)
    assert said(doppel) == []


@pytest.mark.parametrize("away", ["closed", "deleted"])
def test_c7_a_new_title_says_nothing_of_what_could_not_be_shown_under_the_old_one_either(
    doppel: Doppel, away: str
) -> None:
    doppel.configure("include_closed: false\n")
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    assert "[#1]" in doppel.advice(2)
    if away == "closed":
        doppel.sim.close_issue(doppel.repo, 1, "ann", "completed")
    else:
        doppel.sim.delete_issue(doppel.repo, 1, "ann")
    doppel.settle()
    doppel.do.edit_issue(doppel.repo, 2, title=f"{AGAIN[0]} again")
    assert "[#1]" not in doppel.advice(2)
    assert said(doppel) == []


def test_c7_who_names_the_candidate_with_a_new_title_does_not_say_that_it_is_another_one(doppel: Doppel) -> None:
    doppel.configure("mode: shadow\n")
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    doppel.do.edit_issue(doppel.repo, 2, title=f"{AGAIN[0]}, as in #1", body=f"{AGAIN[1]} It is #1 again.")
    assert said(doppel) == []
