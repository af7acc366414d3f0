"""C1: which events are answered, and which are left alone."""

from __future__ import annotations

import pytest

from bot.conversation.marker import ADVICE
from bot.storage.comments import ClaimOutcome, CommentState
from tests.e2e.harness import BOT, Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import AGAIN, FIRST, OTHER


@pytest.fixture(autouse=True)
def first(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)


def test_c1_the_repository_of_a_managed_user(doppel: Doppel) -> None:
    """Their logins end in a low line and the short code of their enterprise."""
    doppel.repo = f"{doppel.owner}_contoso/app"
    doppel.repository = doppel.sim.add_repository(doppel.repo)
    doppel.sim.install(doppel.repo)
    doppel.open(*FIRST, author="ann_contoso")
    doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)
    doppel.open(*AGAIN, author="ann_contoso")
    told = doppel.write(3, f"/duplicates not {doppel.repo}#1", "ann_contoso")
    assert doppel.reactions(told) == ["eyes", "+1"]
    assert not any(FIRST[0] in said for said in doppel.said(3))
    doppel.open(AGAIN[0], f"{AGAIN[1]} Not {doppel.repo}#1, nor {doppel.repo}#2, nor {doppel.repo}#3.")
    assert doppel.said(4) == []


def test_c1_edited_text_is_looked_at_again(doppel: Doppel) -> None:
    doppel.open(*OTHER)
    doppel.do.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c1_quick_edits_cost_one_look(doppel: Doppel) -> None:
    doppel.open(*OTHER)
    searches = doppel.searches()
    for body in ("first", "second", "third"):
        doppel.sim.edit_issue(doppel.repo, 2, title=AGAIN[0], body=body)
    doppel.settle()
    assert 0 < doppel.searches() - searches <= 5, "four searches by words and one by meaning"
    assert doppel.advice(2)


def test_c1_reopened_is_looked_at_if_it_was_not_answered_before(doppel: Doppel) -> None:
    doppel.configure("mode: off")
    doppel.open(*AGAIN)
    doppel.sim.close_issue(doppel.repo, 2, "triage-person")
    doppel.configure("mode: comment")
    doppel.do.reopen_issue(doppel.repo, 2, "reporter")
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c1_what_bots_cause_is_not_answered(doppel: Doppel) -> None:
    doppel.open(*AGAIN, author=doppel.sim.who("renovate[bot]", "Bot"))
    assert doppel.said(2) == []
    doppel.do.comment(doppel.repo, 2, doppel.sim.who("renovate[bot]", "Bot"), "/duplicates")
    assert doppel.said(2) == []


def test_c1_a_locked_issue_is_left_alone(doppel: Doppel) -> None:
    doppel.open(*OTHER)
    doppel.sim.lock_issue(doppel.repo, 2, "triage-person")
    doppel.sim.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    comment = doppel.write(2, "/duplicates", "maintain-person")
    assert doppel.said(2) == []
    assert doppel.reactions(comment) == []


def test_c1_an_issue_that_was_locked_before_the_bot_came_to_it_is_looked_at_once_it_is_unlocked(doppel: Doppel) -> None:
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *AGAIN)
        doppel.sim.lock_issue(doppel.repo, 2, "triage-person")
    doppel.settle()
    assert doppel.said(2) == []
    doppel.do.unlock_issue(doppel.repo, 2, "triage-person")
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c1_unlocking_an_issue_of_which_nothing_was_heard_says_nothing(doppel: Doppel) -> None:
    """It may be years old, and its text of before the bot was there."""
    with doppel.paused():
        doppel.open(*AGAIN)
        doppel.do.lock_issue(doppel.repo, 2, "triage-person")
    doppel.do.unlock_issue(doppel.repo, 2, "triage-person")
    assert doppel.said(2) == []


def test_c1_an_issue_that_was_closed_meanwhile_is_left_alone(doppel: Doppel) -> None:
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *AGAIN)
        doppel.sim.close_issue(doppel.repo, 2, "reporter")
    doppel.settle()
    assert doppel.said(2) == []


def test_c1_a_pull_request_is_left_alone(doppel: Doppel) -> None:
    doppel.open(*AGAIN, is_pull_request=True)
    comment = doppel.write(2, "/duplicates")
    assert doppel.said(2) == []
    assert doppel.reactions(comment) == []


def test_c1_a_comment_that_a_maintainer_deleted_is_never_posted_again(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    (comment,) = doppel.sim.comments(doppel.repo, 2)
    doppel.do.delete_comment(comment, "maintain-person")
    doppel.do.edit_issue(doppel.repo, 2, body="It still happens.")
    assert doppel.said(2) == []
    asked = doppel.write(2, "/duplicates")
    assert doppel.said(2) == [
        f"<!-- doppel:reply v1 {asked.id} -->\n"
        "The comment with earlier issues was deleted here, so it is not posted again.\n"
    ]
    assert doppel.reactions(asked) == ["eyes", "-1"]


def test_c1_a_comment_deleted_before_the_bot_knew_that_it_was_written_is_never_posted_again(doppel: Doppel) -> None:
    """GitHub wrote it and the answer was lost: who looks for it later finds none, and must not take it for unsaid."""
    doppel.open(*OTHER)
    claims = doppel.services.store.comments
    assert claims.claim(doppel.repository.id, 2, 0, now=doppel.sim.clock.timestamp(), lease=0) is ClaimOutcome.CLEAR
    written = doppel.sim.comment(
        doppel.repo, 2, BOT, f"{ADVICE.start} 0123456789abcdef -->\nThis may have been reported."
    )
    doppel.do.delete_comment(written, "maintain-person")
    doppel.do.edit_issue(doppel.repo, 2, title=AGAIN[0], body=AGAIN[1])
    assert doppel.said(2) == []


def test_c1_a_comment_of_before_all_was_erased_that_a_maintainer_deletes_is_never_posted_again(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    assert doppel.advice(2)
    doppel.do.uninstall(doppel.owner)
    doppel.do.install(doppel.repo)
    (comment,) = doppel.sim.comments(doppel.repo, 2)
    doppel.do.delete_comment(comment, "maintain-person")
    doppel.do.edit_issue(doppel.repo, 2, body=f"{AGAIN[1]} It still happens.")
    assert doppel.said(2) == []


def test_c1_what_was_written_before_the_bot_heard_that_the_first_was_deleted_is_taken_back(doppel: Doppel) -> None:
    with doppel.worker_away():
        doppel.sim.open_issue(doppel.repo, "reporter", *AGAIN)
        # Its answer was lost, and so it is nowhere noted.
        lost = doppel.sim.comment(
            doppel.repo, 2, BOT, f"{ADVICE.start} 0123456789abcdef -->\nThis may have been reported."
        )
        doppel.sim.delete_comment(lost, "maintain-person")
    doppel.settle()
    kept = doppel.services.store.comments.get(doppel.repository.id, 2)
    assert kept is not None
    assert kept.comment_id is not None
    assert kept.comment_id > lost.id
    assert doppel.said(2) == []
    doppel.do.edit_issue(doppel.repo, 2, body=f"{AGAIN[1]} It still happens.")
    assert doppel.said(2) == []


def test_c1_another_bots_comment_with_our_marker_silences_nothing(doppel: Doppel) -> None:
    doppel.open(*OTHER)
    claims = doppel.services.store.comments
    assert claims.claim(doppel.repository.id, 2, 0, now=doppel.sim.clock.timestamp(), lease=0) is ClaimOutcome.CLEAR
    forged = doppel.sim.comment(
        doppel.repo, 2, "other[bot]", f"{ADVICE.start} 0123456789abcdef -->\nThis was reported."
    )
    doppel.do.delete_comment(forged, "maintain-person")
    kept = claims.get(doppel.repository.id, 2)
    assert kept is not None
    assert kept.state is CommentState.INTENDED


def test_c1_what_is_known_of_a_deleted_issue_is_forgotten(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    assert doppel.advice(2)
    doppel.write(2, "/duplicates not #1")
    assert len(doppel.said(2)) == 2
    doppel.do.delete_issue(doppel.repo, 2, "admin-person")
    assert doppel.services.store.comments.get(doppel.repository.id, 2) is None
    assert doppel.services.store.verdicts.rejected(doppel.repository.id, 1) == set()


def test_c1_a_deleted_comment_of_which_is_heard_after_its_issue_is_gone_leaves_nothing_behind(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    assert doppel.advice(2)
    with held_back(doppel) as deliver_late:
        doppel.sim.delete_comment(doppel.sim.comments(doppel.repo, 2)[0], "maintain-person")
    doppel.do.delete_issue(doppel.repo, 2, "admin-person")
    deliver_late()
    assert doppel.services.store.comments.get(doppel.repository.id, 2) is None


def test_c1_labels_matter_where_the_settings_say_so(doppel: Doppel) -> None:
    doppel.configure("only_labels: [Bug]\n")
    doppel.open(*AGAIN)
    assert doppel.said(2) == []
    doppel.do.add_labels(doppel.repo, 2, "question", actor="triage-person")
    assert doppel.said(2) == []
    doppel.do.add_labels(doppel.repo, 2, "bug", actor="triage-person")
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c1_taking_an_ignored_label_off_lets_the_bot_look(doppel: Doppel) -> None:
    doppel.configure("ignore:\n  labels: [question]\n")
    doppel.open(*AGAIN, labels=["question"])
    assert doppel.said(2) == []
    doppel.do.remove_label(doppel.repo, 2, "question", "triage-person")
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c1_a_redelivery_changes_nothing(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    doppel.write(2, "/duplicates not #1", "reporter")
    said, deliveries = doppel.said(2), list(doppel.sim.webhooks.log)
    for delivery in deliveries[-6:]:
        doppel.sim.webhooks.redeliver(delivery)
    doppel.settle()
    assert doppel.said(2) == said
    assert [comment.author.login for comment in doppel.sim.comments(doppel.repo, 2)] == [BOT, "reporter", BOT]


def test_c1_a_paused_host_says_nothing(doppel: Doppel) -> None:
    with doppel.paused():
        doppel.open(*AGAIN)
        comment = doppel.write(2, "/duplicates")
    assert doppel.said(2) == []
    assert doppel.reactions(comment) == []
