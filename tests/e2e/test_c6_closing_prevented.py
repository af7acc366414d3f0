"""C6 `close_after`: what prevents it, said before, meanwhile or without a word."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.github.repository.repo import RepoClient
from bot.model import IssueRef, RepoRef
from bot.store.parts.closings import ClosingState
from tests.e2e.closing import BODY, OFFER, TITLE, agree, comment, later, offered
from tests.e2e.harness import Doppel
from tests.e2e.judging import certain_from
from tests.e2e.late import held_back

__all__ = ["offered"]


def edit_label(doppel: Doppel) -> None:
    doppel.sim.add_labels(doppel.repo, 2, "duplicate", actor="triage-person")
    doppel.sim.remove_label(doppel.repo, 2, "duplicate", "triage-person")


def repeat(doppel: Doppel) -> None:
    """Somebody closes the other issue as a duplicate of this one."""
    original = doppel.sim.issue(doppel.repo, 2)
    doppel.sim.close_issue(doppel.repo, 1, "triage-person", "duplicate", original)


def close_and_open(doppel: Doppel) -> None:
    """Somebody closes the issue by hand, and somebody opens it again; neither says a word."""
    doppel.sim.close_issue(doppel.repo, 2, "triage-person", "not_planned")
    doppel.settle()
    doppel.sim.reopen_issue(doppel.repo, 2, "triage-person")
    doppel.settle()


def postdate(doppel: Doppel) -> None:
    """The other issue was written later than this one, which came here from another repository afterwards."""
    other, this = (doppel.sim.issue(doppel.repo, number) for number in (1, 2))
    other.created_at, this.created_at = this.created_at, other.created_at


NEVER: dict[str, Callable[[Doppel], object]] = {
    "without anybody's word": lambda doppel: None,
    "on a stranger's word": lambda doppel: doppel.sim.react(comment(doppel), "stranger", "+1"),
    "with a label that was taken off": edit_label,
    "against a thumb down": lambda doppel: (agree(doppel), doppel.sim.react(comment(doppel), "stranger", "-1")),
    "against a comment": lambda doppel: (agree(doppel), doppel.write(2, "I do not think so.", "stranger")),
    "against `not`": lambda doppel: (agree(doppel), doppel.write(2, "/duplicates not #1", "triage-person")),
    "where it was opened again": lambda doppel: (agree(doppel), close_and_open(doppel)),
    "without the other": lambda doppel: (agree(doppel), doppel.sim.close_issue(doppel.repo, 1, "ann", "completed")),
    "where the other was closed for this one": lambda doppel: (agree(doppel), repeat(doppel)),
    "where the other is newer": lambda doppel: (agree(doppel), postdate(doppel)),
    "where it is not wanted": lambda doppel: (agree(doppel), doppel.configure("mode: comment\n")),
    "where the bot only watches by now": lambda doppel: (
        agree(doppel),
        doppel.configure("mode: shadow\nclose_after: 7d\n"),
    ),
    "where it was muted": lambda doppel: (
        agree(doppel),
        doppel.services.store.muted.set(doppel.repository.id, 2, "x", 0),
    ),
    "where a label says to leave it alone": lambda doppel: (
        agree(doppel),
        doppel.configure("close_after: 7d\nignore:\n  labels: [pinned]\n"),
        doppel.sim.create_label(doppel.repo, "pinned"),
        doppel.sim.add_labels(doppel.repo, 2, "pinned", actor="triage-person"),
    ),
    "where it was locked": lambda doppel: (agree(doppel), doppel.sim.lock_issue(doppel.repo, 2, "maintain-person")),
    "where the comment is gone": lambda doppel: (
        agree(doppel),
        doppel.sim.delete_comment(comment(doppel), "maintain-person"),
    ),
}


def label(doppel: Doppel) -> None:
    doppel.sim.add_labels(doppel.repo, 2, "duplicate", actor="triage-person")
    doppel.settle()


@pytest.mark.parametrize("word", [agree, label], ids=["thumb", "label"])
def test_c6_a_word_from_before_the_announcement_agrees_to_nothing(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, word: Callable[[Doppel], None]
) -> None:
    certain_from(monkeypatch, 0.2)
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert "closed in favour" not in doppel.advice(2)
    word(doppel)
    doppel.sim.clock.advance(60)
    doppel.configure("close_after: 7d\n")
    doppel.sim.edit_issue(doppel.repo, 2, body=f"{BODY} Every time.")
    doppel.settle()
    assert OFFER in doppel.advice(2)
    assert later(doppel).state == "open"


def test_c6_a_thumb_from_just_before_agrees_to_nothing_though_the_hosts_clock_is_slow(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    certain_from(monkeypatch, 0.2)
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    doppel.said(2)
    doppel.configure("close_after: 7d\n")
    agree(doppel)
    doppel.sim.clock.advance(20)
    slow = replace(doppel.services, clock=lambda: doppel.sim.clock.now() - timedelta(seconds=50))
    with monkeypatch.context() as behind:
        behind.setattr(doppel.world, "services", slow)
        doppel.sim.edit_issue(doppel.repo, 2, body=f"{BODY} Every time.")
        doppel.settle()
    assert OFFER in doppel.advice(2)
    assert later(doppel).state == "open"


def test_c6_a_comment_prevents_it_though_the_offer_was_withdrawn_and_made_again_since(offered: Doppel) -> None:
    offered.write(2, "I do not think so.", "stranger")
    offered.sim.clock.advance(60)
    offered.sim.edit_issue(offered.repo, 2, title="Green is too bright", body="Everywhere.")
    offered.settle()
    assert "closed in favour" not in offered.advice(2)
    offered.sim.clock.advance(60)
    offered.sim.edit_issue(offered.repo, 2, title=TITLE, body=BODY)
    offered.settle()
    assert "closed in favour" not in offered.advice(2)
    agree(offered)
    assert later(offered).state == "open"


def test_c6_an_offer_to_which_nobody_objected_may_be_withdrawn_and_made_again(offered: Doppel) -> None:
    offered.sim.edit_issue(offered.repo, 2, title="Green is too bright", body="Everywhere.")
    offered.settle()
    assert "closed in favour" not in offered.advice(2)
    offered.sim.edit_issue(offered.repo, 2, title=TITLE, body=BODY)
    offered.settle()
    assert OFFER in offered.advice(2)
    agree(offered)
    assert later(offered).state == "closed"


def test_c6_a_comment_prevents_it_though_the_hosts_clock_is_fast(offered: Doppel) -> None:
    closings = offered.services.store.closings
    kept = closings.get(offered.repository.id, 2)
    assert kept is not None
    closings.put(offered.repository.id, replace(kept, since=kept.since + 50))
    offered.sim.clock.advance(10)
    offered.write(2, "I do not think so.", "stranger")
    offered.sim.clock.advance(60)
    agree(offered)
    assert later(offered).state == "open"


@pytest.mark.parametrize("case", NEVER)
def test_c6_it_is_never_closed(offered: Doppel, case: str) -> None:
    NEVER[case](offered)
    offered.settle()
    assert later(offered).state == "open"
    offered.said(1)
    # Nor later, when nobody thinks of it any more.
    assert later(offered, 40).state == "open"


def test_c6_what_people_have_opened_again_is_not_closed_by_a_store_of_before_that(offered: Doppel) -> None:
    """A restored backup knows the offer, and nothing of what came of it."""
    store, repo_id = offered.services.store, offered.repository.id
    backup = store.closings.get(repo_id, 2)
    assert backup is not None
    agree(offered)
    assert later(offered).state == "closed"
    offered.sim.reopen_issue(offered.repo, 2, "triage-person")
    offered.settle()
    for verdict in store.verdicts.by_command(repo_id, comment(offered).id):
        store.verdicts.remove(verdict.id)
    store.closings.put(repo_id, backup)
    assert later(offered, 1).state == "open"
    assert "closed in favour" not in offered.advice(2)


def test_c6_it_is_not_closed_for_one_that_is_said_to_repeat_it(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody can close the other for this one between the two questions that are asked about it."""
    agree(offered)
    here = RepoRef.parse(offered.repo)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(RepoClient, "duplicate_of", lambda client, repo, number: IssueRef(here, 2))
        assert later(offered).state == "open"
    assert OFFER not in offered.advice(2)
    assert later(offered, 1).state == "open"


def test_c6_no_closing_is_offered_for_an_issue_of_another_repository(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is that of an issue here, too."""
    certain_from(monkeypatch, 0.0)
    lib = f"{doppel.owner}/lib"
    doppel.sim.add_repository(lib)
    doppel.sim.open_issue(lib, "ann", TITLE, BODY)
    doppel.configure(f"siblings: [{lib}]\nmin_confidence: 0\nmax_candidates: 1\nclose_after: 7d\n")
    doppel.open("Green is too bright", "Everywhere.")
    doppel.open(TITLE, BODY)
    assert f"[{lib}#1](" in doppel.said(2)[0]
    assert "closed in favour" not in doppel.said(2)[0]
    doppel.said(1)


@pytest.mark.parametrize("heard", [True, False])
def test_c6_it_is_not_closed_for_one_that_is_gone_and_the_comment_promises_it_no_longer(
    offered: Doppel, heard: bool
) -> None:
    agree(offered)
    with nullcontext() if heard else held_back(offered):
        offered.sim.delete_issue(offered.repo, 1)
    offered.settle()
    assert later(offered).state == "open"
    assert "closed in favour" not in offered.advice(2)


def test_c6_an_objection_holds_though_what_was_offered_is_gone(offered: Doppel) -> None:
    offered.write(2, "I do not think so.", "stranger")
    assert later(offered).state == "open"
    offered.sim.delete_issue(offered.repo, 1)
    offered.settle()
    closing = offered.services.store.closings.get(offered.repository.id, 2)
    assert closing is not None
    assert closing.state is ClosingState.OVER
