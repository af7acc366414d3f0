"""C7: what people say to a comment is read, kept as labelled pairs and heeded: votes, closing, titles, commands."""

from __future__ import annotations

from typing import Any

import pytest

from bot.github.feedback import MOST
from bot.simulator.state.issues import Comment
from tests.e2e.harness import BOT, Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import AGAIN, FIRST, OTHER, Said, poll, said


@pytest.mark.parametrize(
    ("login", "content", "expected"),
    [
        ("reporter", "+1", [(2, 1, True, "reaction", "author", 0.5)]),
        ("triage-person", "-1", [(2, 1, False, "reaction", "triage", 1.0)]),
        ("a-stranger", "-1", []),
        ("triage-person", "confused", []),
    ],
)
def test_c7_votes_count_by_who_gives_them(
    doppel: Doppel, commented: Comment, login: str, content: str, expected: Said
) -> None:
    doppel.sim.react(commented, login, content)
    poll(doppel)
    assert said(doppel) == expected


def test_c7_what_a_triager_voted_down_is_no_candidate_any_more_for_finder_and_scan(
    doppel: Doppel, commented: Comment
) -> None:
    """As `/duplicates not` has it; taken back, it is one again."""
    vote, _ = doppel.sim.react(commented, "triage-person", "-1")
    poll(doppel)
    doppel.write(2, "/duplicates")
    assert "Crash while exporting" not in doppel.advice(2)
    doppel.write(2, "/duplicates scan", "maintain-person")
    (shown,) = [issue for issue in doppel.sim.issues_of(doppel.repository) if issue.author.login == BOT]
    assert "Crash while exporting" not in (shown.body or "")
    doppel.sim.unreact(commented, vote.id)
    poll(doppel)
    doppel.write(2, "/duplicates")
    assert "Crash while exporting" in doppel.said(2)[0]


def test_c7_a_crowd_of_strangers_pushes_out_nobodys_vote(doppel: Doppel, commented: Comment) -> None:
    vote, _ = doppel.sim.react(commented, "triage-person", "-1")
    poll(doppel)
    for number in range(MOST + 5):
        doppel.sim.react(commented, f"stranger-{number}", "-1")
    poll(doppel)
    assert said(doppel) == [(2, 1, False, "reaction", "triage", 1.0)]
    assert commented.minimized == "OUTDATED"
    doppel.sim.react(commented, "triage-person", "+1")
    doppel.sim.unreact(commented, vote.id)
    poll(doppel)
    assert said(doppel) == [(2, 1, True, "reaction", "triage", 1.0)]


def test_c7_a_comment_that_was_voted_down_is_folded_once_and_shown_again(doppel: Doppel, commented: Comment) -> None:
    doppel.sim.react(commented, "a-stranger", "-1")
    poll(doppel)
    assert commented.minimized is None, "a stranger's vote folds nothing"
    vote, _ = doppel.sim.react(commented, "reporter", "-1")
    poll(doppel)
    assert commented.minimized == "OUTDATED"
    doppel.sim.unreact(commented, vote.id)
    poll(doppel)
    assert commented.minimized is None
    doppel.sim.react(commented, "reporter", "-1")
    poll(doppel)
    assert commented.minimized is None, "it is not folded a second time"


def test_c7_what_a_person_unfolds_stays_so(doppel: Doppel, commented: Comment) -> None:
    doppel.sim.react(commented, "reporter", "-1")
    poll(doppel)
    assert commented.minimized == "OUTDATED"
    commented.minimized = None
    poll(doppel)
    poll(doppel)
    assert commented.minimized is None


def test_c1_a_comment_on_a_locked_issue_is_left_alone_though_its_votes_count(
    doppel: Doppel, commented: Comment
) -> None:
    doppel.sim.react(commented, "reporter", "-1")
    doppel.do.lock_issue(doppel.repo, 2, "maintain-person")
    poll(doppel)
    assert commented.minimized is None
    assert len(said(doppel)) == 1
    doppel.do.unlock_issue(doppel.repo, 2, "maintain-person")
    poll(doppel)
    assert commented.minimized == "OUTDATED"
    assert "Nothing left to show" in doppel.advice(2), "whose issue it is said that it is another one"


def test_c7_how_an_issue_is_closed_says_whether_the_candidates_were_right(doppel: Doppel, commented: Comment) -> None:
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    assert said(doppel) == [(2, 1, True, "closed", "triage", 1.0)]
    doppel.do.reopen_issue(doppel.repo, 2, "triage-person")
    assert said(doppel) == []
    doppel.do.close_issue(doppel.repo, 2, "reporter", "completed")
    assert said(doppel) == [], "who closes it otherwise does not say that it repeats nothing"


@pytest.mark.parametrize("failing", [("graphql_error", 200), (502, 502)])
def test_c7_a_closing_is_worked_on_once_though_github_does_not_tell_of_what_it_is_a_duplicate(
    doppel: Doppel, commented: Comment, monkeypatch: pytest.MonkeyPatch, failing: tuple[Any, int]
) -> None:
    """GraphQL can fail over one repository for good; `finish` sees that nothing was given up."""
    monkeypatch.setattr("bot.deliveries.queue.MOST_TRIES", 1)
    doppel.open(*OTHER, author="bob")
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    assert said(doppel) == [(2, 1, True, "closed", "triage", 1.0)]
    doppel.sim.faults.add("POST /graphql", failing[0], code=failing[1], times=None)
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 3))
    assert said(doppel) == [], "what was said before holds no more"
    with doppel.services.index.view(doppel.repository.id) as view:
        assert view.issues([2])[2].state_reason == "duplicate"


def test_c7_how_an_issue_was_closed_before_holds_no_more_though_nobody_heard_of_its_reopening(
    doppel: Doppel, commented: Comment, monkeypatch: pytest.MonkeyPatch
) -> None:
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    assert said(doppel) == [(2, 1, True, "closed", "triage", 1.0)]
    with monkeypatch.context() as unheard:
        unheard.setattr(doppel.sim, "emit", lambda *_, **__: None)
        doppel.sim.reopen_issue(doppel.repo, 2, "triage-person")
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "completed")
    assert said(doppel) == []


@pytest.mark.parametrize("closer", ["stale[bot]", "triage-person"])
def test_c7_a_closing_that_is_told_late_says_nothing_of_how_the_issue_was_closed_since(
    doppel: Doppel, commented: Comment, closer: str
) -> None:
    original = doppel.sim.issue(doppel.repo, 1)
    with held_back(doppel) as deliver:
        doppel.sim.close_issue(doppel.repo, 2, "triage-person", "duplicate", original)
        doppel.sim.webhooks.join()
    doppel.do.reopen_issue(doppel.repo, 2, "reporter")
    doppel.sim.clock.advance(60)
    if closer == "stale[bot]":
        doppel.sim.close_issue(doppel.repo, 2, closer, "not_planned")
    else:
        doppel.sim.close_issue(doppel.repo, 2, closer, "duplicate", original)
    doppel.settle()
    expected = [] if closer == "stale[bot]" else [(2, 1, True, "closed", "triage", 1.0)]
    assert said(doppel) == expected
    deliver()
    assert said(doppel) == expected


def test_c7_the_earlier_issue_can_be_closed_in_favour_of_the_one_with_the_comment(
    doppel: Doppel, commented: Comment
) -> None:
    doppel.do.close_issue(doppel.repo, 1, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 2))
    assert said(doppel) == [(2, 1, True, "closed", "triage", 1.0)]
    doppel.do.reopen_issue(doppel.repo, 1, "triage-person")
    assert said(doppel) == []
    doppel.write(1, "/duplicates not #2", "triage-person")
    assert said(doppel) == [(2, 1, False, "not", "triage", 1.0)]
    doppel.said(1)
    doppel.said(2)


def test_c7_commands_are_examples_until_they_are_taken_back(doppel: Doppel, commented: Comment) -> None:
    doppel.write(2, "/duplicates not #1", "triage-person")
    assert said(doppel) == [(2, 1, False, "not", "triage", 1.0)]
    doppel.write(2, "/duplicates undo", "triage-person")
    assert said(doppel) == []
    doppel.write(2, "/duplicates of #1", "triage-person")
    assert said(doppel) == [(2, 1, True, "of", "triage", 1.0)]
    doppel.said(2)


@pytest.mark.parametrize(
    "how", ["reopened", "closed otherwise", "closed for another", "closed for another repository's"]
)
def test_c7_what_of_said_goes_when_somebody_decides_otherwise_by_hand(
    doppel: Doppel, commented: Comment, how: str
) -> None:
    doppel.open(*OTHER, author="bob")
    doppel.write(2, "/duplicates of #1", "triage-person")
    assert said(doppel) == [(2, 1, True, "of", "triage", 1.0)]
    if how == "reopened":
        doppel.sim.reopen_issue(doppel.repo, 2, "maintain-person")
    elif how == "closed otherwise":
        doppel.sim.close_issue(doppel.repo, 2, "maintain-person", "completed")
    elif how == "closed for another":
        doppel.sim.close_issue(doppel.repo, 2, "maintain-person", "duplicate", doppel.sim.issue(doppel.repo, 3))
    else:
        doppel.sim.add_repository(f"{doppel.owner}/lib")
        there = doppel.sim.open_issue(f"{doppel.owner}/lib", "ann", *FIRST)
        doppel.sim.close_issue(doppel.repo, 2, "maintain-person", "duplicate", there)
    doppel.settle()
    assert (2, 1, True) not in [one[:3] for one in said(doppel)]
    assert doppel.services.store.verdicts.originals(doppel.repository.id) == {}
    doppel.write(2, "/duplicates undo", "triage-person")
    assert "duplicate" not in [label.name for label in doppel.sim.issue(doppel.repo, 2).labels]
    doppel.said(2)


def test_c7_an_of_that_another_has_corrected_counts_again_only_when_that_is_taken_back(
    doppel: Doppel, commented: Comment
) -> None:
    doppel.open(*OTHER, author="bob")
    for original, expected in ((2, [(3, 2, True)]), (1, [(3, 1, True)])):
        doppel.write(3, f"/duplicates of #{original}", "triage-person")
        assert [one[:3] for one in said(doppel)] == expected
    doppel.write(3, "/duplicates undo", "triage-person")
    assert [one[:3] for one in said(doppel)] == [(3, 2, True)]
    assert doppel.said(3) and doppel.said(2)


def test_c7_who_may_triage_counts_so_on_their_own_issues_too(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN, author="triage-person")
    doppel.write(2, "/duplicates not #1", "triage-person")
    assert said(doppel) == [(2, 1, False, "not", "triage", 1.0)]
    doppel.write(2, "/duplicates undo", "triage-person")
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "duplicate", doppel.sim.issue(doppel.repo, 1))
    assert said(doppel) == [(2, 1, True, "closed", "triage", 1.0)]
    doppel.said(2)


def test_c6a_what_people_said_goes_with_access(doppel: Doppel, commented: Comment) -> None:
    doppel.sim.react(commented, "triage-person", "-1")
    poll(doppel)
    assert said(doppel)
    doppel.do.remove_from_installation(doppel.repo)
    assert said(doppel) == []
