"""C4: what `undo` takes back, also if it is edited, and that the other issue's comment follows."""

from __future__ import annotations

from typing import Any

import pytest

from bot.conversation.messages.catalogue import messages_for
from bot.deliveries.events import CommentEvent
from bot.domain.entities import Actor
from bot.domain.report import Report
from bot.simulator.clock import iso
from handlers.commands.dispatch import comment_written
from handlers.context import IssueContext
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST, OTHER, rejected

NOTHING = "You have nothing to take back here.\n"


@pytest.mark.parametrize("corrected", ["/duplicates Undo", "/duplicates undo!", "/duplicates undo\n/duplicates help"])
def test_c4_an_old_undo_that_is_edited_does_not_take_back_a_newer_not(pair: Doppel, corrected: str) -> None:
    undo = pair.write(2, "/duplicates undo", "reporter")
    assert pair.said(2)[1].endswith(NOTHING)
    pair.write(2, "/duplicates not #1", "reporter")
    assert pair.said(2)
    pair.edit(undo, corrected)
    assert pair.said(2)
    assert rejected(pair) == {1}


def test_c4_a_misspelt_undo_that_is_corrected_takes_back_what_stands_above_it(pair: Doppel) -> None:
    pair.open(*OTHER)
    pair.write(3, "/duplicates not #1", "reporter")
    undo = pair.write(3, "/duplicates undoo", "reporter")
    pair.write(3, "/duplicates not #2", "reporter")
    assert pair.said(3)
    pair.edit(undo, "/duplicates undo")
    assert rejected(pair, 3) == {2}
    assert pair.said(3)[1].endswith("can be shown on this issue again.\n")


def test_c4_a_decision_that_is_edited_into_undo_is_taken_back(pair: Doppel) -> None:
    comment = pair.write(2, "/duplicates not #1", "reporter")
    assert pair.said(2)
    pair.edit(comment, "/duplicates undo")
    assert rejected(pair) == set()
    assert pair.said(2)[1].endswith("can be shown on this issue again.\n")


def test_c4_undo_of_not_brings_the_issue_back_into_the_other_ones_comment(pair: Doppel) -> None:
    pair.write(1, "/duplicates not #2", "triage-person")
    assert pair.said(1)
    assert "Nothing left to show" in pair.advice(2)
    pair.write(1, "/duplicates undo", "triage-person")
    assert pair.said(1)
    assert "Crash while exporting to PDF" in pair.advice(2)


def test_c4_what_a_triager_noted_too_holds_when_the_author_takes_theirs_back(pair: Doppel) -> None:
    pair.write(2, "/duplicates not #1", "reporter")
    pair.write(2, "/duplicates not #1", "triage-person")
    assert pair.said(2)[-1].endswith("were already noted as different.\n")
    pair.write(2, "/duplicates undo", "reporter")
    assert pair.said(2)[-1].partition("\n")[2] == (
        "Taken back. Somebody else has noted the same, so [#1](https://redirect.github.com/acme/app/issues/1) is still "
        "not shown on this issue.\n"
    )
    assert rejected(pair) == {1}
    assert "Nothing left to show" in pair.said(2)[0]
    pair.write(2, "/duplicates undo", "admin-person")
    assert pair.said(2)[-1].endswith("can be shown on this issue again.\n")
    assert rejected(pair) == set()


def test_c4_each_authors_word_on_a_pair_stands_for_itself(pair: Doppel) -> None:
    first = pair.sim.issue(pair.repo, 1).author.login
    assert first != "reporter"
    pair.write(2, "/duplicates not #1", "reporter")
    pair.write(1, "/duplicates not #2", first)
    pair.write(2, "/duplicates undo", "reporter")
    assert "is still not shown on this issue" in pair.said(2)[-1]
    assert rejected(pair) == {1}
    pair.write(1, "/duplicates undo", first)
    assert pair.said(1)[-1].endswith("can be shown on this issue again.\n")
    assert rejected(pair) == set()
    assert "Crash while exporting to PDF" in pair.said(2)[0]


def test_c4_a_triagers_undo_takes_back_what_everybody_said_of_the_pair(pair: Doppel) -> None:
    pair.write(2, "/duplicates not #1", "reporter")
    pair.write(1, "/duplicates not #2", "triage-person")
    assert pair.said(1)
    pair.write(1, "/duplicates undo", "triage-person")
    assert pair.said(1)[-1].endswith("can be shown on this issue again.\n")
    assert rejected(pair) == set()
    assert "Crash while exporting to PDF" in pair.said(2)[0]


@pytest.mark.parametrize("hushed", ["muted", "locked"])
def test_c4_not_leaves_the_other_comment_alone_where_nothing_is_to_be_said(pair: Doppel, hushed: str) -> None:
    if hushed == "locked":
        pair.sim.lock_issue(pair.repo, 2, "admin-person")
    else:
        pair.write(2, "/duplicates mute", "reporter")
    before = pair.said(2)
    pair.write(1, "/duplicates not #2", "triage-person")
    assert pair.said(1)
    assert rejected(pair) == {1}
    assert pair.said(2) == before


def test_c4_the_other_comment_is_changed_in_order_with_its_own_work(pair: Doppel) -> None:
    """The work on the other issue's comment waits for that issue's turn: it is a job of that issue's own."""
    queued: list[tuple[str, str]] = []
    put = pair.services.inbox.put
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pair.services.inbox,
            "put",
            lambda id_, event, *rest: (queued.append((event.action, event.partition)), put(id_, event, *rest))[1],
        )
        pair.write(1, "/duplicates not #2", "triage-person")
    assert queued == [("judged", f"{pair.repository.id}#2")]
    assert pair.said(1)
    assert "Nothing left to show" in pair.advice(2)


def test_c4_not_takes_effect_on_an_issue_that_is_being_looked_at_just_then(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look has read what people rejected, and its comment is still to be written."""
    doppel.read_before(*FIRST)

    really_find = IssueContext.find

    def find(visit: IssueContext, *arguments: Any, **options: Any) -> Report:
        report = really_find(visit, *arguments, **options)
        if not rejected(doppel):
            comment = doppel.sim.comment(doppel.repo, 1, "triage-person", "/duplicates not #2")
            # As its own delivery is worked on, for which the worker may have no place free before this one is done.
            known = doppel.known
            # In the partition of the look, so that what follows from the command comes after it.
            installation = known.installation
            login, at, body = Actor("triage-person"), iso(comment.updated_at), comment.body
            comment_written(
                CommentEvent("created", installation, visit.repository, 1, login, comment.id, body, updated_at=at),
                visit.services,
            )
        return report

    monkeypatch.setattr(IssueContext, "find", find)
    doppel.open(*AGAIN)
    assert rejected(doppel) == {1}
    assert "Nothing left to show" in doppel.advice(2)
    assert doppel.said(1)


def test_c4_what_was_decided_while_an_issue_was_muted_is_heeded_once_it_is_not(pair: Doppel) -> None:
    pair.write(2, "/duplicates mute", "reporter")
    pair.write(1, "/duplicates not #2", "triage-person")
    assert pair.said(1)
    assert "Crash while exporting to PDF" in pair.said(2)[0]
    pair.write(2, "/duplicates unmute", "reporter")
    (advice, _, unmuted) = pair.said(2)
    assert "Nothing left to show" in advice
    assert unmuted.endswith(f"{messages_for('en', {}).unmuted()}\n")


@pytest.mark.parametrize("taken_back", [False, True])
def test_c4_what_was_decided_while_an_issue_was_locked_is_heeded_once_it_is_not(pair: Doppel, taken_back: bool) -> None:
    if taken_back:
        pair.write(1, "/duplicates not #2", "triage-person")
    pair.sim.lock_issue(pair.repo, 2, "maintain-person")
    pair.write(1, "/duplicates undo" if taken_back else "/duplicates not #2", "triage-person")
    assert pair.said(1)
    assert ("Nothing left to show" in pair.advice(2)) == taken_back
    pair.do.unlock_issue(pair.repo, 2, "maintain-person")
    assert ("Nothing left to show" in pair.advice(2)) != taken_back


def test_c4_a_recheck_of_a_muted_issue_says_that_it_is_muted(pair: Doppel) -> None:
    pair.write(2, "/duplicates mute", "reporter")
    assert pair.said(2)
    comment = pair.write(2, "/duplicates", "reporter")
    assert pair.said(2)[2].partition("\n")[2] == (
        "The comment is up to date. This issue is muted: it is looked at only when a command asks for it. "
        "`/duplicates unmute` changes that.\n"
    )
    assert pair.reactions(comment) == ["eyes", "+1"]


def test_c4_undo_of_of_says_that_an_issue_stays_closed_which_somebody_closed_since(pair: Doppel) -> None:
    pair.write(2, "/duplicates of #1", "triage-person")
    pair.sim.reopen_issue(pair.repo, 2, "maintain-person")
    pair.sim.close_issue(pair.repo, 2, "maintain-person", "completed")
    pair.write(2, "/duplicates undo", "triage-person")
    issue = pair.sim.issue(pair.repo, 2)
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    undone = pair.said(2)[2]
    assert "Taken back: " in undone
    assert "is open again" not in undone


def test_c4_undo_of_of_leaves_a_label_that_a_person_has_set_since(pair: Doppel) -> None:
    pair.write(2, "/duplicates of #1", "triage-person")
    pair.sim.remove_label(pair.repo, 2, "duplicate", "maintain-person")
    pair.do.add_labels(pair.repo, 2, "duplicate", actor="maintain-person")
    pair.write(2, "/duplicates undo", "triage-person")
    assert pair.said(2)[-1].partition("\n")[2].startswith("Taken back: this issue is open again")
    assert [label.name for label in pair.sim.issue(pair.repo, 2).labels] == ["duplicate"]


def test_c4_undo_of_an_of_that_named_another_original_brings_the_former_one_back(pair: Doppel) -> None:
    """It was closed in favour of that before; to open it would take back more than the last decision."""
    pair.open("Dark mode for the settings page", "Please add it.")

    def stands() -> tuple[str, int | None]:
        issue = pair.sim.issue(pair.repo, 3)
        return issue.state, issue.duplicate_of.number if issue.duplicate_of else None

    for number in (2, 1):
        pair.write(3, f"/duplicates of #{number}", "triage-person")
        assert stands() == ("closed", number)
    pair.write(3, "/duplicates undo", "triage-person")
    assert stands() == ("closed", 2)
    assert pair.said(3)[-1].endswith("It stays closed, as it was before.\n")
    pair.write(3, "/duplicates undo", "triage-person")
    assert stands() == ("open", None)
    assert pair.sim.issue(pair.repo, 3).labels == []
    # And so where it was closed by hand.
    pair.do.close_issue(pair.repo, 3, "triage-person", "duplicate", pair.sim.issue(pair.repo, 2))
    pair.write(3, "/duplicates of #1\n/duplicates undo", "triage-person")
    assert stands() == ("closed", 2)
    assert pair.said(3) and pair.said(2)


def test_c4_undo_of_an_of_brings_another_repositorys_original_back_as_far_as_it_can_be_seen(pair: Doppel) -> None:
    lib = f"{pair.owner}/lib"
    pair.sim.add_repository(lib)
    there = pair.sim.open_issue(lib, "ann", *FIRST)
    pair.do.close_issue(pair.repo, 2, "triage-person", "duplicate", there)
    pair.write(2, "/duplicates of #1", "triage-person")
    assert pair.sim.issue(pair.repo, 2).duplicate_of == pair.sim.issue(pair.repo, 1)
    pair.write(2, "/duplicates undo", "triage-person")
    assert pair.sim.issue(pair.repo, 2).duplicate_of == there
    assert pair.said(2)[-1].endswith("It stays closed, as it was before.\n")
    pair.write(2, "/duplicates of #1", "triage-person")
    pair.sim.delete_issue(lib, there.number, "ann")
    pair.write(2, "/duplicates undo", "triage-person")
    assert pair.sim.issue(pair.repo, 2).state == "open"
    assert pair.said(2)
