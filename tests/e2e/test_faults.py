"""Exactly one comment, whatever GitHub does in between; and no outage is presented as "no duplicates" (C2, F9)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import Unavailable
from bot.github.repository import RepoClient
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST
from tests.waiting import wait_until

POST = "POST /repos/*/comments"


@pytest.fixture(autouse=True)
def first(doppel: Doppel) -> None:
    doppel.read_before(*FIRST)


@pytest.mark.parametrize(
    "fault", ["timeout_after_write", "reset_after_write", "malformed", "timeout", "reset", "unresolved", 502, 503]
)
def test_c2_one_comment_though_posting_it_fails_once(doppel: Doppel, fault: str | int) -> None:
    doppel.sim.faults.add(POST, fault)  # type: ignore[arg-type]
    with doppel.impatient():
        doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)


@pytest.mark.parametrize("fault", ["timeout_after_write", 502])
def test_c2_one_reply_though_posting_it_fails_once(doppel: Doppel, fault: str | int) -> None:
    doppel.sim.faults.add(POST, fault)  # type: ignore[arg-type]
    with doppel.impatient():
        comment = doppel.write(1, "/duplicates help")
    assert len(doppel.said(1)) == 1
    assert doppel.reactions(comment) == ["eyes", "+1"]


def test_c2_one_reply_though_the_command_is_edited_after_posting_it_was_not_answered(doppel: Doppel) -> None:
    fault = doppel.sim.faults.add(POST, "reset_after_write")
    comment = doppel.sim.comment(doppel.repo, 1, "reporter", "/duplicates help")
    doppel.sim.webhooks.join()
    wait_until(lambda: fault.hits)
    doppel.edit(comment, "/duplicates")
    assert "No earlier issue" in doppel.advice(1), "the reply is gone, since the comment is the answer"
    # GitHub's times are in whole seconds: what is written again within one is the same command.
    doppel.sim.clock.advance(1)
    doppel.edit(comment, "/duplicates help")
    assert len(doppel.said(1)) == 2


def test_c2_a_recheck_is_not_refused_because_github_does_not_know_the_issue_everywhere_yet(doppel: Doppel) -> None:
    doppel.open("Dark mode for the settings page")
    fault = doppel.sim.faults.add(POST, "unresolved")
    comment = doppel.write(2, "/duplicates")
    assert fault.hits == 1
    assert "**The closest earlier issues:**" in doppel.advice(2)
    assert doppel.reactions(comment) == ["eyes", "+1"]


@pytest.mark.parametrize("command", ["help", "not #7"])
def test_c4_a_command_is_acknowledged_though_github_is_away_at_the_end_of_it(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    react, asked = RepoClient.react, list[str]()

    def away_once(github: RepoClient, repo: RepoRef, comment_id: int, content: Any) -> None:
        asked.append(content)
        if asked.count(content) == 1 and content != "eyes":
            raise Unavailable("GitHub answered 502")
        react(github, repo, comment_id, content)

    monkeypatch.setattr(RepoClient, "react", away_once)
    comment = doppel.write(1, f"/duplicates {command}")
    assert len(doppel.said(1)) == 1
    assert doppel.reactions(comment) == ["eyes", "+1" if command == "help" else "-1"]


def test_c4_mute_is_answered_alike_though_it_is_carried_out_twice(doppel: Doppel) -> None:
    doppel.sim.faults.add(POST, 502)
    doppel.write(1, "/duplicates mute", "ann")
    (said,) = doppel.said(1)
    assert "Quiet from now on" in said
    doppel.write(1, "/duplicates mute", "triage-person")
    assert doppel.said(1)[1].endswith("This issue is already muted.\n")


@pytest.mark.parametrize(
    "request_", ["PATCH /repos/*/issues/2", "POST /repos/*/issues/2/labels", "POST /repos/*/reactions"]
)
@pytest.mark.parametrize("fault", ["timeout_after_write", 502])
def test_c4_of_is_completed_though_a_step_fails(doppel: Doppel, request_: str, fault: str | int) -> None:
    doppel.open(*AGAIN)
    doppel.sim.faults.add(request_, fault, times=4)  # type: ignore[arg-type]
    with doppel.impatient():
        comment = doppel.write(2, "/duplicates of #1", "triage-person")
    issue = doppel.sim.issue(doppel.repo, 2)
    assert (issue.state_reason, [label.name for label in issue.labels]) == ("duplicate", ["duplicate"])
    assert [text.partition("\n")[2][:6] for text in doppel.said(2)[1:]] == ["Closed"]
    assert doppel.reactions(comment) == ["eyes", "+1"]
    doppel.write(2, "/duplicates undo", "triage-person")
    assert (issue.state, issue.labels) == ("open", [])
    assert doppel.said(2)


def test_c4_undo_takes_back_one_decision_though_it_is_started_twice(doppel: Doppel) -> None:
    doppel.open("Dark mode")
    doppel.open("German translation")
    doppel.write(3, "/duplicates not #1\n/duplicates not #2", "reporter")
    doppel.sim.faults.add(POST, 502)
    doppel.write(3, "/duplicates undo", "reporter")
    assert doppel.services.store.verdicts.rejected(doppel.repository.id, 3) == {1}
    assert len(doppel.said(3)) == 2


def test_f9_an_outage_of_search_is_not_taken_for_no_duplicates(doppel: Doppel) -> None:
    doppel.sim.faults.add("GET /search/issues", 503, times=12)
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2), "it was looked for again when search was back"


def test_f9_a_part_of_an_outage_is_told(doppel: Doppel) -> None:
    doppel.sim.faults.add("GET /search/issues", "incomplete_results", times=None)
    doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    assert "Crash while exporting to PDF" in comment
    assert "incomplete" in comment


def test_a_secondary_limit_is_waited_for(doppel: Doppel) -> None:
    doppel.sim.faults.add("GET /search/issues", "secondary_limit", retry_after=5)
    doppel.open(*AGAIN)
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_what_was_written_too_fast_is_written_when_github_takes_it(doppel: Doppel) -> None:
    # As often as what is wrong with a request is tried at all.
    fault = doppel.sim.faults.add(POST, "secondary_limit", code=422, times=3)
    doppel.sim.open_issue(doppel.repo, "reporter", *AGAIN)
    for _ in range(3):
        doppel.world.let_pass(70)
    doppel.settle()
    assert fault.hits == 3
    assert "Crash while exporting to PDF" in doppel.advice(2)


def test_c4_what_github_refuses_is_told(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    doppel.sim.faults.add("PATCH /repos/*/issues/2", 403, times=None)
    comment = doppel.write(2, "/duplicates of #1", "triage-person")
    assert "GitHub did not let me do that" in doppel.said(2)[1]
    assert "An administrator can see what this App may do" in doppel.said(2)[1]
    assert doppel.reactions(comment) == ["eyes", "-1"]
    assert doppel.services.store.verdicts.last(doppel.repository.id, 2, None, up_to=2**62) is None


@pytest.mark.parametrize("status", [403, 404, 409, 422])
def test_c4_what_github_refuses_does_not_lose_the_answers_before_it(doppel: Doppel, status: int) -> None:
    doppel.open(*AGAIN)
    doppel.sim.faults.add("PATCH /repos/*/issues/2", status, times=None)
    comment = doppel.write(2, "/duplicates not #1\n/duplicates of #1\n/duplicates help", "triage-person")
    reply = doppel.said(2)[1]
    assert "Noted: this issue and " in reply
    assert "GitHub did not let me do that" in reply
    assert "Write one of these" in reply
    assert doppel.reactions(comment) == ["eyes", "-1"]


def test_f9_explain_says_which_search_failed(doppel: Doppel) -> None:
    with doppel.before_backfill():
        doppel.open("Dark mode for the settings page")
        # What was asked on opening is no longer remembered.
        doppel.sim.clock.advance(301)
        doppel.sim.faults.add("GET /search/issues", 503, times=None)
        doppel.write(2, "/duplicates explain #1", "reporter")
    doppel.sim.faults.clear()
    assert "None of the searches found it" in doppel.said(2)[0]
    assert "**What did not work**" in doppel.said(2)[0]


def test_a_command_that_is_withdrawn_meanwhile_is_dropped(doppel: Doppel) -> None:
    doppel.open(*AGAIN)
    with doppel.worker_away():
        comment = doppel.sim.comment(doppel.repo, 2, "reporter", "/duplicates not #1")
        doppel.sim.delete_comment(comment, "reporter")
    doppel.settle()
    assert len(doppel.said(2)) == 1
    assert doppel.services.store.verdicts.rejected(doppel.repository.id, 2) == set()
