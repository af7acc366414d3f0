"""C6 `close_after`: announced in the comment, done on somebody's word, never against anybody's, and taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.calibration.recalibrating import examples_of
from bot.errors import Retryable
from bot.github.repository.votes import VotesPage
from bot.store.parts.closings import Closings, ClosingState, KeptClosing
from tests.e2e.closing import BODY, OFFER, ON_VOTE, TITLE, agree, comment, later, look_again, offered
from tests.e2e.harness import Doppel
from tests.e2e.judging import certain_from, sure

__all__ = ["offered"]


def test_c6_with_the_authors_word_it_is_closed_and_undo_opens_it_again(offered: Doppel) -> None:
    agree(offered)
    assert later(offered, 6.5).state == "open"
    issue = later(offered, 1)
    assert (issue.state, issue.state_reason) == ("closed", "duplicate")
    assert issue.duplicate_of is offered.sim.issue(offered.repo, 1)
    advice = offered.advice(2)
    assert OFFER not in advice
    assert "in favour of [#1](https://redirect.github.com/acme/app/issues/1), as announced here." in advice
    assert "People decide." in advice and "nothing was changed" not in advice
    offered.write(2, "/duplicates undo", "reporter")
    assert offered.said(2)[1].endswith(
        "Taken back: this issue is open again and no longer linked to [#1]"
        "(https://redirect.github.com/acme/app/issues/1).\n"
    )
    assert "announced" not in offered.said(2)[0]
    assert later(offered).state == "open"


def test_c6_it_is_closed_though_a_clock_that_was_ahead_has_had_this_turn_before(offered: Doppel) -> None:
    assert later(offered).state == "open"
    agree(offered)
    assert later(offered, 0).state == "closed"


def test_c6_a_clock_that_is_ahead_closes_nothing_early_and_ends_no_offer(offered: Doppel) -> None:
    with offered.clock_ahead(days=40):
        assert later(offered, 1).state == "open"
        assert OFFER in offered.advice(2)
        agree(offered)
        assert later(offered, 1).state == "open"
        assert later(offered, 6).state == "closed"


def test_c6_what_people_have_opened_again_is_not_said_to_be_closed(offered: Doppel) -> None:
    agree(offered)
    assert later(offered).state == "closed"
    assert "as announced here." in offered.advice(2)
    offered.sim.reopen_issue(offered.repo, 2, "reporter")
    offered.settle()
    assert "announced" not in offered.advice(2)
    assert later(offered).state == "open"


def test_c6_what_people_have_closed_otherwise_since_is_not_said_to_be_closed_as_announced(offered: Doppel) -> None:
    agree(offered)
    assert later(offered).state == "closed"
    offered.write(2, "/duplicates")
    assert "as announced here." in offered.advice(2)
    offered.sim.reopen_issue(offered.repo, 2, "triage-person")
    offered.sim.close_issue(offered.repo, 2, "triage-person", "completed")
    offered.settle()
    offered.write(2, "/duplicates")
    assert "announced" not in offered.advice(2)


@pytest.mark.parametrize("request_", ["PATCH /repos/*/issues/2", "PATCH /repos/*/issues/comments/*"])
@pytest.mark.parametrize("fault", ["timeout_after_write", 502])
def test_c6_it_is_told_though_github_did_not_answer_when_it_was_closed(
    offered: Doppel, request_: str, fault: Any
) -> None:
    agree(offered)
    offered.sim.faults.add(request_, fault, times=4)
    with offered.impatient():
        assert later(offered).state_reason == "duplicate"
    assert "as announced here." in offered.advice(2)


def test_c6_what_people_have_opened_again_stays_open_though_the_look_is_done_again(offered: Doppel) -> None:
    """A look that has closed it and could not say so in the comment comes again, which may be hours later."""
    agree(offered)
    assert later(offered).state == "closed"
    offered.sim.reopen_issue(offered.repo, 2, "triage-person")
    offered.settle()
    look_again(offered)
    assert offered.sim.issue(offered.repo, 2).state == "open"
    assert "announced" not in offered.advice(2)


def test_c6_it_is_told_though_the_bot_ended_just_after_it_was_closed(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    agree(offered)
    put, asked = Closings.put, list[KeptClosing]()

    def fail_once(store: Closings, repo_id: int, closing: KeptClosing) -> None:
        asked.append(closing)
        if len(asked) == 1:
            raise Retryable("the worker ends here")
        put(store, repo_id, closing)

    monkeypatch.setattr(Closings, "put", fail_once)
    assert later(offered).state_reason == "duplicate"
    assert "as announced here." in offered.advice(2)
    offered.write(2, "/duplicates undo", "reporter")
    assert offered.sim.issue(offered.repo, 2).state == "open"
    assert len(offered.said(2)) == 2


def test_c6_what_could_not_be_closed_and_was_prevented_since_is_no_duplicate(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.jobs.running.retry.MOST_TRIES", 1)
    agree(offered)
    offered.sim.faults.add("PATCH /repos/*/issues/2", 502, times=4)
    assert later(offered).state == "open"
    (letter,) = offered.world.dead_letters.list()
    offered.write(2, "I do not think so.", "stranger")
    assert offered.world.dead_letters.retry(letter.delivery_id)
    offered.settle()
    assert later(offered, 1).state == "open"
    assert offered.services.store.verdicts.originals(offered.repository.id) == {}


def test_c6_what_github_refuses_for_good_is_tried_once_and_announced_no_more(offered: Doppel) -> None:
    """As Enterprise Servers do that do not know of closing as a duplicate."""
    agree(offered)
    offered.sim.faults.add("PATCH /repos/*/issues/2", 422, times=9)
    assert later(offered).state == "open"
    offered.sim.faults.clear()
    assert offered.world.dead_letters.list() == []
    assert OFFER not in offered.advice(2)
    assert later(offered, 1).state == "open"
    assert offered.services.store.verdicts.originals(offered.repository.id) == {}


def test_c6_an_offer_that_nobody_took_is_withdrawn_from_the_comment(offered: Doppel) -> None:
    assert later(offered).state == "open"
    assert OFFER in offered.advice(2)
    assert later(offered, 30).state == "open"
    assert OFFER not in offered.advice(2)
    # So nobody is told of a closing that would not come.
    agree(offered)
    assert later(offered).state == "open"
    assert "[#1]" in offered.advice(2)


def test_c6_it_is_withdrawn_though_github_did_not_take_the_edit_at_first(offered: Doppel) -> None:
    assert later(offered).state == "open"
    offered.sim.faults.add("PATCH /repos/*/issues/comments/*", 502, times=4)
    assert later(offered, 30).state == "open"
    assert OFFER not in offered.advice(2)


def test_c6_an_offer_on_a_muted_issue_ends_without_a_word(offered: Doppel) -> None:
    offered.write(2, "/duplicates mute", "triage-person")
    before = offered.said(2)
    later(offered, 40)
    assert offered.said(2) == before


def test_c6_an_offer_that_is_over_is_withdrawn_by_no_word_where_the_issue_was_muted_meanwhile(offered: Doppel) -> None:
    """An attempt that ends it can fail to say so in the comment, and comes again after people have muted the issue."""
    closings = offered.services.store.closings
    kept = closings.get(offered.repository.id, 2)
    assert kept is not None
    closings.put(offered.repository.id, replace(kept, state=ClosingState.OVER))
    offered.services.store.muted.set(offered.repository.id, 2, "triage-person", 0)
    before = offered.said(2)
    look_again(offered)
    assert offered.said(2) == before
    offered.services.store.muted.clear(offered.repository.id, 2)
    look_again(offered)
    assert OFFER not in offered.advice(2)


def test_c7_that_it_was_closed_by_itself_counts_as_the_authors_word_alone(offered: Doppel) -> None:
    agree(offered)
    later(offered)
    made = examples_of(offered.services.store, offered.repository.id, offered.services.now())
    assert [(one.kind.value, one.same, one.who.value, one.weight) for one in made] == [("of", True, "author", 0.5)]


def test_c6_with_a_triagers_label_it_is_closed(offered: Doppel) -> None:
    # The label counts where it was surely set after the announcement, and GitHub tells whole seconds.
    offered.sim.clock.advance(2)
    offered.sim.add_labels(offered.repo, 2, "duplicate", actor="triage-person")
    offered.settle()
    assert later(offered).state_reason == "duplicate"
    assert offered.said(2)


@pytest.mark.parametrize(("settings", "left"), [("label: add\n", []), ("", ["duplicate"])], ids=["bot", "person"])
def test_c6_undo_takes_off_the_label_where_it_was_the_bots(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, settings: str, left: list[str]
) -> None:
    certain_from(monkeypatch, 0.2)
    doppel.configure(f"close_after: 7d\n{settings}")
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert (ON_VOTE if settings else OFFER) in doppel.advice(2)
    if not settings:
        doppel.sim.add_labels(doppel.repo, 2, "duplicate", actor="triage-person")
        doppel.settle()
    agree(doppel)
    issue = later(doppel)
    assert (issue.state_reason, [label.name for label in issue.labels]) == ("duplicate", ["duplicate"])
    doppel.write(2, "/duplicates undo", "reporter")
    assert (issue.state, [label.name for label in issue.labels]) == ("open", left)
    doppel.said(2)


def test_c6_the_comment_says_who_may_open_again_what_a_maintainers_label_has_closed(offered: Doppel) -> None:
    offered.sim.clock.advance(60)
    offered.sim.add_labels(offered.repo, 2, "duplicate", actor="triage-person")
    offered.settle()
    issue = later(offered)
    assert issue.state_reason == "duplicate"
    assert (
        "Whoever agreed, and people with triage access, can reopen this issue with `/duplicates undo`."
        in offered.advice(2)
    )
    offered.write(2, "/duplicates undo", "reporter")
    assert "You have nothing to take back" in offered.said(2)[1]
    offered.write(2, "/duplicates undo", "triage-person")
    offered.said(2)
    assert issue.state == "open"


def test_c6_it_waits_while_github_does_not_tell_the_votes(offered: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    offered.sim.clock.advance(2)
    offered.sim.add_labels(offered.repo, 2, "duplicate", actor="triage-person")
    with monkeypatch.context() as silent:
        silent.setattr("bot.github.repository.repo.RepoClient.votes", lambda client, ids: VotesPage())
        assert later(offered).state == "open"
    assert later(offered, 1).state_reason == "duplicate"


def test_c6_it_waits_for_the_next_turn_while_github_fails_to_tell_the_votes(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hour makes a job of its own, so that those that fail would pile up; `finish` sees that none was given up."""
    agree(offered)
    with monkeypatch.context() as once:
        once.setattr("bot.jobs.running.retry.MOST_TRIES", 1)
        offered.sim.faults.add("POST /graphql", "graphql_error", code=200, times=None)
        assert later(offered).state == "open"
    offered.sim.faults.clear()
    assert later(offered, 0.05).state_reason == "duplicate"


def test_c6_a_comment_that_was_deleted_unheard_is_not_asked_for_again(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as unheard:
        unheard.setattr(offered.sim, "emit", lambda *_, **__: None)
        offered.sim.delete_comment(comment(offered), "maintain-person")
    assert later(offered).state == "open"
    due = offered.services.store.closings.due(offered.repository.id, offered.services.now())
    assert due == []


def test_c6_it_is_announced_from_sixty_per_cent_on(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    doppel.configure("close_after: 7d\n")
    doppel.open(TITLE, BODY, author="ann")
    for number, confidence in enumerate((0.84, 0.85), start=2):
        sure(monkeypatch, confidence)
        doppel.open(TITLE, BODY)
        assert ("closed in favour" in doppel.advice(number)) is (confidence >= 0.85)


def test_c6_nothing_is_announced_by_default(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    certain_from(monkeypatch, 0.2)
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert "closed in favour" not in doppel.advice(2)
