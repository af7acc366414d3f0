"""C6 `close_after`: announced in the comment, done on somebody's word, never against anybody's, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.calibration.recalibrating import examples_of
from bot.closing import DAY
from bot.errors import Retryable
from bot.events.own import DUE, own_issue_event
from bot.github.votes import VotesPage
from bot.simulator.state.issues import Comment, Issue
from bot.store.closings import Closings, KeptClosing
from handlers.closing import call_for_due
from tests.e2e.harness import BOT, Doppel

TITLE = "Crash while exporting a page to PDF"
BODY = "Exporting raises `PdfRenderError: page 7 has no boundary box` in renderPdfPage since 3.2."
OFFER = (
    "If the author gives this comment a 👍, or somebody with triage access adds the `duplicate` label, this issue is "
    "closed in favour of [#1](https://redirect.github.com/acme/app/issues/1) after 7 days. A 👎 or a comment from "
    "anybody prevents that."
)
ON_VOTE = (
    "If the author gives this comment a 👍, this issue is closed in favour of "
    "[#1](https://redirect.github.com/acme/app/issues/1) after 7 days. A 👎 or a comment from anybody prevents that."
)


@pytest.fixture
def offered(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> Doppel:
    """Issue #2 repeats #1, and its comment announces that it may be closed."""
    # What the model makes of two made-up issues is not what is tested here.
    monkeypatch.setattr("handlers.offering.CERTAIN", 0.2)
    doppel.configure("close_after: 7d\n")
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert OFFER in doppel.advice(2)
    return doppel


def comment(doppel: Doppel) -> Comment:
    return next(one for one in doppel.sim.comments(doppel.repo, 2) if one.author.login == BOT)


def later(doppel: Doppel, days: float = 7.5) -> Issue:
    """Some days pass, and the schedule has looked; the issue as it is then."""
    doppel.sim.clock.advance(days * DAY)
    call_for_due(doppel.services)
    doppel.settle()
    doppel.said(2)
    return doppel.sim.issue(doppel.repo, 2)


def agree(doppel: Doppel) -> None:
    # As with the label below: what is said in the second of the announcement may have been said before it.
    doppel.sim.clock.advance(2)
    doppel.sim.react(comment(doppel), "reporter", "+1")


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


@pytest.mark.parametrize("request_", ["PATCH /repos/*/issues/2", "PATCH /repos/*/issues/comments/*"])
@pytest.mark.parametrize("fault", ["timeout_after_write", 502])
def test_c6_it_is_told_though_github_did_not_answer_when_it_was_closed(
    offered: Doppel, request_: str, fault: Any
) -> None:
    agree(offered)
    offered.sim.faults.add(request_, fault, times=4)
    assert later(offered).state_reason == "duplicate"
    assert "as announced here." in offered.advice(2)


def test_c6_what_people_have_opened_again_stays_open_though_the_look_is_done_again(offered: Doppel) -> None:
    """A look that has closed it and could not say so in the comment comes again, which may be hours later."""
    agree(offered)
    assert later(offered).state == "closed"
    offered.sim.reopen_issue(offered.repo, 2, "triage-person")
    offered.settle()
    known = offered.services.store.repositories.get(offered.repository.id)
    assert known is not None
    event = own_issue_event(DUE, known.installation, known.summary, 2)
    offered.services.inbox.put(f"{DUE}-{known.id}-2-again", event)
    offered.settle()
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
    monkeypatch.setattr("bot.jobs.retry.MOST_TRIES", 1)
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
    monkeypatch.setattr("handlers.offering.CERTAIN", 0.2)
    monkeypatch.setattr("handlers.labelling.VERY_LIKELY", 0.2)
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


def edit_label(doppel: Doppel) -> None:
    doppel.sim.add_labels(doppel.repo, 2, "duplicate", actor="triage-person")
    doppel.sim.remove_label(doppel.repo, 2, "duplicate", "triage-person")


def repeat(doppel: Doppel) -> None:
    """Somebody closes the other issue as a duplicate of this one."""
    original = doppel.sim.issue(doppel.repo, 2)
    doppel.sim.close_issue(doppel.repo, 1, "triage-person", "duplicate", original)


NEVER: dict[str, Callable[[Doppel], object]] = {
    "without anybody's word": lambda doppel: None,
    "on a stranger's word": lambda doppel: doppel.sim.react(comment(doppel), "stranger", "+1"),
    "with a label that was taken off": edit_label,
    "against a thumb down": lambda doppel: (agree(doppel), doppel.sim.react(comment(doppel), "stranger", "-1")),
    "against a comment": lambda doppel: (agree(doppel), doppel.write(2, "I do not think so.", "stranger")),
    "against `not`": lambda doppel: (agree(doppel), doppel.write(2, "/duplicates not #1", "triage-person")),
    "without the other": lambda doppel: (agree(doppel), doppel.sim.close_issue(doppel.repo, 1, "ann", "completed")),
    "in a circle": lambda doppel: (agree(doppel), repeat(doppel)),
    "where it is not wanted": lambda doppel: (agree(doppel), doppel.configure("mode: comment\n")),
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


def test_c6_a_thumb_from_before_the_announcement_agrees_to_nothing(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.offering.CERTAIN", 0.2)
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert "closed in favour" not in doppel.advice(2)
    agree(doppel)
    doppel.sim.clock.advance(60)
    doppel.configure("close_after: 7d\n")
    doppel.sim.edit_issue(doppel.repo, 2, body=f"{BODY} Every time.")
    doppel.settle()
    assert OFFER in doppel.advice(2)
    assert later(doppel).state == "open"


def test_c6_a_thumb_from_just_before_agrees_to_nothing_though_the_hosts_clock_is_slow(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.offering.CERTAIN", 0.2)
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
    closings = Closings(offered.services.store.engine)
    kept = closings.get(offered.repository.id, 2)
    assert kept is not None
    closings.put(offered.repository.id, replace(kept, since=kept.since + 50))
    offered.sim.clock.advance(10)
    offered.write(2, "I do not think so.", "stranger")
    offered.sim.clock.advance(60)
    agree(offered)
    assert later(offered).state == "open"


def test_c6_it_waits_while_github_does_not_tell_the_votes(offered: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    offered.sim.clock.advance(2)
    offered.sim.add_labels(offered.repo, 2, "duplicate", actor="triage-person")
    with monkeypatch.context() as silent:
        silent.setattr("bot.github.votes._votes_of", lambda node: None, raising=False)
        silent.setattr("bot.github.repo.RepoClient.votes", lambda client, ids: VotesPage())
        assert later(offered).state == "open"
    assert later(offered, 1).state_reason == "duplicate"


def test_c6_it_waits_for_the_next_turn_while_github_fails_to_tell_the_votes(
    offered: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hour makes a job of its own, so that those that fail would pile up; `finish` sees that none was given up."""
    agree(offered)
    with monkeypatch.context() as once:
        once.setattr("bot.jobs.retry.MOST_TRIES", 1)
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
    due = Closings(offered.services.store.engine).due(offered.repository.id, offered.services.now())
    assert due == []


@pytest.mark.parametrize("case", NEVER)
def test_c6_it_is_never_closed(offered: Doppel, case: str) -> None:
    NEVER[case](offered)
    offered.settle()
    assert later(offered).state == "open"
    offered.said(1)
    # Nor later, when nobody thinks of it any more.
    assert later(offered, 40).state == "open"


def test_c6_nothing_is_announced_by_default(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handlers.offering.CERTAIN", 0.2)
    doppel.open(TITLE, BODY, author="ann")
    doppel.open(TITLE, BODY)
    assert "closed in favour" not in doppel.advice(2)
