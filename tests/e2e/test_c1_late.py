"""C1: commands edited before the bot came to them, and events that come in another order than things happened."""

from __future__ import annotations

import itertools
from contextlib import suppress
from types import SimpleNamespace

import pytest

from bot.deliveries.events import INDEXED, JUDGED, OVERTAKEN, IssueEvent, own_issue_event
from bot.domain.entities import Actor
from bot.domain.errors import Overtaken
from bot.platform import lease
from bot.platform.lease import working_under_lease
from handlers.issues import issue_opened_or_edited
from tests.e2e.harness import Doppel
from tests.e2e.late import deliver_late, delivered
from tests.e2e.reports import FIRST, OTHER


@pytest.fixture
def two(doppel: Doppel) -> Doppel:
    doppel.read_before(*FIRST)
    doppel.open(*OTHER)
    return doppel


def muted(doppel: Doppel) -> bool:
    return doppel.services.store.muted.is_muted(doppel.repository.id, 2)


def queue_look(doppel: Doppel, action: str) -> None:
    """What the bot queues for itself, about #2."""
    known = doppel.known
    event = own_issue_event(action, known.installation, known.summary, 2)
    doppel.services.inbox.put(f"{action}-{known.id}-2-1", event)


def test_c1_an_issue_that_github_does_not_show_at_once_is_answered(doppel: Doppel) -> None:
    """Webhooks can be faster than the databases from which GitHub reads."""
    doppel.read_before(*FIRST)
    doppel.sim.faults.add("GET /repos/*/issues/2", 404)
    doppel.open(*FIRST)
    assert "[#1]" in doppel.advice(2)


def test_c1_an_archived_repository_is_left_alone(doppel: Doppel) -> None:
    """GitHub would refuse the comment; that nothing is searched for either shows that none was meant."""
    doppel.read_before(*FIRST)
    with doppel.paused():
        doppel.open(*FIRST)
    opened = delivered(doppel, "opened")
    doppel.do.archive_repository(doppel.repo)
    asked = doppel.searches()
    deliver_late(doppel, opened)
    assert (doppel.said(2), doppel.searches()) == ([], asked)


def test_c6a_who_has_lost_the_lease_stores_no_more_of_an_issue(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has taken it over may have forgotten the issue meanwhile, because it was deleted."""
    # As after a standstill, no check is recent.
    monkeypatch.setattr(lease, "time", SimpleNamespace(monotonic=itertools.count(0, 60).__next__))
    with doppel.paused():
        doppel.open(*FIRST)
    known, store = doppel.known, doppel.services.store
    event = IssueEvent("opened", known.installation, known.summary, 1, Actor("reporter"), Actor("reporter"))
    # To get a token is a write too.
    doppel.services.github.in_repository(known.installation or 0, known.id).issue(known.ref, 1)
    stored = dict[tuple[bool, bool, bool], int]()
    for checks in itertools.count():
        held = iter([True] * checks)
        with working_under_lease(lambda held=held: next(held, False)), suppress(Overtaken):  # type: ignore[misc]
            issue_opened_or_edited(event, doppel.services)
        with doppel.services.index.view(known.id) as view:
            indexed = 1 in view.issues([1])
        decided = bool(store.decisions.of_issue(known.id, 1))
        stored[indexed, store.comments.get(known.id, 1) is not None, decided] = checks
        if decided:
            break
    assert list(stored) == [(False, False, False), (True, False, False), (True, True, False), (True, True, True)]


@pytest.mark.parametrize("action", [OVERTAKEN, INDEXED, JUDGED])
def test_c1_a_paused_host_does_nothing_of_what_it_had_queued_for_itself(two: Doppel, action: str) -> None:
    with two.paused():
        two.sim.edit_issue(two.repo, 2, title=FIRST[0], body=FIRST[1])
        two.sim.add_labels(two.repo, 2, "bug", actor="triage-person")
        queue_look(two, action)
        two.settle()
    assert two.said(2) == []


@pytest.mark.parametrize("left_alone", [True, False])
def test_c1_an_earlier_issue_that_comes_in_late_says_nothing_where_it_is_to_be_left_alone(
    two: Doppel, left_alone: bool
) -> None:
    with two.paused():
        two.do.edit_issue(two.repo, 2, title=FIRST[0], body=FIRST[1])
    if left_alone:
        two.services.store.muted.set(two.repository.id, 2, "triage-person", 0)
    queue_look(two, OVERTAKEN)
    two.settle()
    assert len(two.said(2)) == (not left_alone)


@pytest.mark.parametrize("request_", ["GET /repos/*/issues/2", "GET /repos/*/issues/comments/*", "POST */reactions"])
def test_c1_a_command_that_github_does_not_show_at_once_is_carried_out(two: Doppel, request_: str) -> None:
    two.sim.faults.add(request_, 404)
    comment = two.write(2, "/duplicates mute", "triage-person")
    assert muted(two)
    assert len(two.said(2)) == 1
    assert two.reactions(comment) == ["eyes", "+1"]


def test_c1_a_command_that_is_edited_before_the_bot_comes_to_it_is_the_new_one(two: Doppel) -> None:
    with two.worker_away():
        comment = two.sim.comment(two.repo, 2, "triage-person", "/duplicates of #1\n/duplicates mute")
        two.sim.edit_comment(comment, "/duplicates not #1\n/duplicates mute")
    two.settle()
    assert two.sim.issue(two.repo, 2).state == "open"
    assert two.services.store.verdicts.rejected(two.repository.id, 2) == {1}
    assert muted(two), "this line stood there all the time"
    (reply,) = two.said(2)
    assert "Noted: " in reply
    assert two.reactions(comment) == ["eyes", "+1"]


def test_c1_a_command_on_an_issue_that_is_locked_before_the_bot_comes_to_it_is_left_alone(two: Doppel) -> None:
    with two.worker_away():
        comment = two.sim.comment(two.repo, 2, "triage-person", "/duplicates mute")
        two.sim.lock_issue(two.repo, 2, "maintain-person")
    two.settle()
    assert not muted(two)
    assert (two.said(2), two.reactions(comment)) == ([], [])


def test_c1_what_an_edit_took_out_is_not_done_when_its_event_comes_late(two: Doppel) -> None:
    comment = two.write(2, "/duplicates mute", "triage-person")
    created = delivered(two, "created", "triage-person")
    two.edit(comment, "/duplicates unmute")
    assert not muted(two)
    deliver_late(two, created)
    assert not muted(two)
    (reply,) = two.said(2)
    assert "This issue is looked at again." in reply
