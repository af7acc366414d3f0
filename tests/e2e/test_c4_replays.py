"""C4: a command is done once for each comment and text, however often and under whatever ids it is delivered."""

from __future__ import annotations

import pytest

from bot.conversation.commands.table import LIMIT_SECONDS
from bot.simulator.faults import Fault
from handlers.commands import dispatch as replying
from tests.e2e.harness import Doppel
from tests.e2e.late import deliver_late, delivered, held_back
from tests.e2e.reports import FIRST, OTHER
from tests.waiting import wait_until

TRIAGER = "triage-person"
REPLY = "POST /repos/*/comments"


@pytest.fixture
def two(doppel: Doppel) -> Doppel:
    doppel.read_before(*FIRST)
    doppel.open(*OTHER)
    return doppel


def state(doppel: Doppel) -> str:
    return doppel.sim.issue(doppel.repo, 2).state


def written(doppel: Doppel) -> list[tuple[str, str]]:
    """All that the bot has made GitHub tell of on its comments: each post, edit and deletion."""
    return [
        (one.guid, one.action or "")
        for one in doppel.sim.webhooks.log
        if one.event == "issue_comment" and one.payload["sender"]["type"] == "Bot"
    ]


def wait_for(fault: Fault) -> None:
    wait_until(lambda: fault.hits, "the fault")


def test_c4_what_was_undone_is_not_done_again_by_what_came_before_an_edit(two: Doppel) -> None:
    comment = two.write(2, "/duplicates of #1", TRIAGER)
    created = delivered(two, "created", TRIAGER)
    two.sim.clock.advance(5)
    two.edit(comment, "/duplicates of #1\n/duplicates help")
    edited = delivered(two, "edited", TRIAGER)
    two.write(2, "/duplicates undo", TRIAGER)
    assert state(two) == "open"
    said, posts = two.said(2), written(two)
    for one in (created, edited, created):
        deliver_late(two, one)
    assert state(two) == "open"
    assert (two.said(2), written(two)) == (said, posts)


def test_c4_what_was_put_back_and_undone_is_not_done_again_by_its_first_delivery(two: Doppel) -> None:
    comment = two.write(2, "/duplicates of #1", TRIAGER)
    created = delivered(two, "created", TRIAGER)
    for body in ("Let me think.", "/duplicates of #1"):
        two.sim.clock.advance(5)
        two.edit(comment, body)
    two.write(2, "/duplicates undo", TRIAGER)
    assert state(two) == "open"
    said = two.said(2)
    deliver_late(two, created)
    assert (state(two), two.said(2)) == ("open", said)


@pytest.mark.parametrize("seconds", [0, 5])
def test_c4_deliveries_in_turn_write_nothing_more(two: Doppel, seconds: float) -> None:
    comment = two.write(2, "/duplicates explain #1")
    deliveries = [delivered(two, "created")]
    # Within one second GitHub's time does not tell which came first.
    two.sim.clock.advance(seconds)
    two.edit(comment, "/duplicates explain #1\n/duplicates help")
    deliveries.append(delivered(two, "edited"))
    said, posts = two.said(2), written(two)
    for one in deliveries * 4:
        deliver_late(two, one)
    assert (two.said(2), written(two)) == (said, posts)


def test_c4_what_is_older_than_what_was_heeded_last_is_not_heeded(two: Doppel) -> None:
    """It stands in the comment as it is now; but what people did since may have been because it was not done."""
    with held_back(two) as deliver:
        comment = two.sim.comment(two.repo, 2, TRIAGER, "/duplicates mute")
        two.sim.webhooks.join()
    two.sim.clock.advance(5)
    two.edit(comment, "/duplicates mute\n/duplicates help")
    said = two.said(2)
    deliver()
    assert not two.services.store.muted.is_muted(two.repository.id, 2)
    assert two.said(2) == said


def test_c4_what_is_late_and_was_never_heeded_is_done_once(two: Doppel) -> None:
    with held_back(two):
        two.sim.comment(two.repo, 2, TRIAGER, "/duplicates of #1")
        two.sim.webhooks.join()
    created = delivered(two, "created", TRIAGER)
    deliver_late(two, created)
    assert state(two) == "closed"
    two.do.reopen_issue(two.repo, 2, TRIAGER)
    said = two.said(2)
    deliver_late(two, created)
    assert (state(two), two.said(2)) == ("open", said)


def test_c5_what_was_too_much_is_not_given_later_by_a_replay(two: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 1)
    for _ in range(3):
        two.write(2, "/duplicates help")
    refused = delivered(two, "created")
    said = two.said(2)
    two.sim.clock.advance(LIMIT_SECONDS + 1)
    deliver_late(two, refused)
    assert two.said(2) == said


def test_c5_what_the_comment_says_no_more_counts_for_nothing_and_is_not_answered(
    two: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replying, "COMMANDS_LIMIT", 1)
    with held_back(two) as deliver:
        comments = [two.sim.comment(two.repo, 2, "reporter", "/duplicates help") for _ in range(3)]
        two.sim.webhooks.join()
    with held_back(two):
        for one in comments:
            two.sim.edit_comment(one, "I have found it.")
    deliver()
    assert two.said(2) == []
    assert two.reactions(two.write(2, "/duplicates help")) == ["eyes", "+1"]
    assert len(two.said(2)) == 1


def test_c1_what_was_left_alone_on_a_locked_issue_is_not_done_when_it_is_unlocked(two: Doppel) -> None:
    with two.worker_away():
        two.sim.comment(two.repo, 2, TRIAGER, "/duplicates mute")
        two.sim.lock_issue(two.repo, 2, "maintain-person")
    two.settle()
    two.do.unlock_issue(two.repo, 2, "maintain-person")
    deliver_late(two, delivered(two, "created", TRIAGER))
    assert not two.services.store.muted.is_muted(two.repository.id, 2)
    assert two.said(2) == []


def test_c4_what_ended_halfway_is_finished_and_not_begun_by_another_delivery(
    two: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The issue is closed and the answer is not written: the worker's next try writes it, and nothing else does."""
    fault = two.sim.faults.add(REPLY, 502, times=None)
    with monkeypatch.context() as once:
        once.setattr("bot.deliveries.queue.MOST_TRIES", 1)
        comment = two.write(2, "/duplicates of #1", TRIAGER)
    created = delivered(two, "created", TRIAGER)
    assert (fault.hits > 0, state(two)) == (True, "closed")
    two.sim.faults.clear()
    two.do.reopen_issue(two.repo, 2, TRIAGER)
    (letter,) = two.world.dead_letters.list()
    deliver_late(two, created)
    assert (state(two), two.said(2)) == ("open", [])
    assert two.world.dead_letters.retry(letter.delivery_id)
    two.settle()
    assert two.reactions(comment) == ["eyes", "+1"]
    assert len(two.said(2)) == 1


def test_c4_a_try_that_failed_is_followed_by_the_next_though_another_delivery_came_meanwhile(two: Doppel) -> None:
    fault = two.sim.faults.add(REPLY, 502, times=1)
    with two.worker_away():
        comment = two.sim.comment(two.repo, 2, TRIAGER, "/duplicates mute")
        two.sim.webhooks.join()
        created = delivered(two, "created", TRIAGER)
    wait_for(fault)
    deliver_late(two, created)
    assert two.services.store.muted.is_muted(two.repository.id, 2)
    (reply,) = two.said(2)
    assert "Quiet from now on" in reply
    assert two.reactions(comment) == ["eyes", "+1"]
