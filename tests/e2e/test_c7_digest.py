"""C7: the digest, from what the bot did to the boxes that maintainers tick, and the threshold that follows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.app.wiring.worker_process import scheduled_tasks
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.report import Evidence
from bot.quality import digest as reading
from bot.quality.calibration import recalibrate
from bot.simulator.state.issues import Issue
from handlers.scheduled.repository_tasks import poll_feedback, update_digest, update_digests
from tests.e2e.harness import BOT, Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import FIRST, said

AGAIN = ("Exporting to PDF crashes @everybody", "I see `PdfRenderError: page 7` when exporting.")

WHOLE = """\
<!-- doppel:digest v1 -->
From DAY to DAY the bot looked at 2 issues (2 new). It would have commented on 1. Feedback so far: \
1 without feedback.

Issues are shown at a probability of 24% or more, the default.

Were these the same? Anyone who can write to this repository can tick a box; each tick counts as feedback. This issue \
is kept up to date until it is closed.

- [#2](https://redirect.github.com/acme/app/issues/2) Exporting to PDF crashes @\u200beverybody
  Would have named [#1](https://redirect.github.com/acme/app/issues/1) Crash while exporting to PDF (N%); so far: \
no feedback yet
  - [ ] <!-- 2 1 same --> the same
  - [ ] <!-- 2 1 other --> not the same

Checked on DAY.
"""


def plain(doppel: Doppel, body: str) -> str:
    body = doppel.plain(re.sub(r"(digest v1) [0-9a-f]{16} -->", r"\1 -->", body))
    return re.sub(r"\([0-9]+%\)", "(N%)", re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?! [0-9]{2}:)", "DAY", body))


def keep(doppel: Doppel) -> Issue:
    """The digest of today, and the issue that shows it."""
    doppel.sim.clock.advance(60)
    known = doppel.known
    assert known.installation is not None
    update_digest(doppel.services, known, known.installation)
    doppel.settle()
    (issue,) = [one for one in doppel.sim.issues_of(doppel.repository) if one.author.login == BOT]
    return issue


@pytest.fixture
def digest(doppel: Doppel) -> Issue:
    """The digest's issue, #3, after #2 in shadow."""
    doppel.configure("mode: shadow\ndigest: issue\n")
    doppel.open(*FIRST, author="ann")
    doppel.open(*AGAIN)
    return keep(doppel)


def test_c7_the_digest_is_one_issue_that_pings_nobody(doppel: Doppel, digest: Issue) -> None:
    assert digest.title == "What Doppel did in the last week"
    assert plain(doppel, digest.body or "") == WHOLE
    assert doppel.said(3) == []
    assert keep(doppel) is digest
    timeline = doppel.sim.issue(doppel.repo, 1).events + doppel.sim.issue(doppel.repo, 2).events
    assert not [event for event in timeline if event.event in ("cross-referenced", "mentioned")]
    assert doppel.services.store.decisions.of_issue(doppel.repository.id, 3) == []
    assert doppel.services.index.numbers(doppel.repository.id, 0, 10) == [1, 2]


def test_c7_a_ticked_box_is_feedback_and_can_be_taken_back(doppel: Doppel, digest: Issue) -> None:
    asked = digest.body or ""
    ticked = asked.replace("[ ] <!-- 2 1 other -->", "[x] <!-- 2 1 other -->")
    doppel.do.edit_issue(doppel.repo, 3, body=ticked, actor="write-person")
    assert said(doppel) == [(2, 1, False, "box", "triage", 1.0)]
    assert "so far: wrong (a box ticked here)" in (keep(doppel).body or "")
    assert "[x] <!-- 2 1 other -->" in (digest.body or "")
    doppel.do.edit_issue(doppel.repo, 3, body=(digest.body or "").replace("[x]", "[ ]"), actor="write-person")
    assert said(doppel) == []


def test_c7_a_box_counts_though_somebody_has_taken_the_marker_off_which_comes_back(
    doppel: Doppel, digest: Issue
) -> None:
    """Only who can write here can do either, and by its number it is the digest all the same."""
    marker, _, rest = (digest.body or "").partition("\n")
    doppel.sim.edit_issue(doppel.repo, 3, body=rest, actor="write-person")
    ticked = rest.replace("[ ] <!-- 2 1 same -->", "[x] <!-- 2 1 same -->")
    doppel.do.edit_issue(doppel.repo, 3, body=ticked, actor="write-person")
    assert said(doppel) == [(2, 1, True, "box", "triage", 1.0)]
    body = keep(doppel).body or ""
    assert body.startswith(marker[:22]) and "[x] <!-- 2 1 same -->" in body


def test_c7_a_box_whose_event_was_lost_is_read_before_the_issue_is_written(doppel: Doppel, digest: Issue) -> None:
    digest.body = (digest.body or "").replace("[ ] <!-- 2 1 same -->", "[x] <!-- 2 1 same -->")
    doppel.do.close_issue(doppel.repo, 2, "triage-person", "not_planned")
    assert "[x] <!-- 2 1 same -->" in (keep(doppel).body or "")
    assert (2, 1, True, "box", "triage", 1.0) in said(doppel)


def test_c7_a_box_that_is_ticked_while_the_digest_is_put_together_is_not_written_over(
    doppel: Doppel, digest: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its event is handled only afterwards, when the issue says what the bot has written."""
    titles = reading.titles_of

    def tick_meanwhile(*arguments: Any) -> Any:
        digest.body = (digest.body or "").replace("[ ] <!-- 2 1 same -->", "[x] <!-- 2 1 same -->")
        return titles(*arguments)

    doppel.open("The menu is empty", "Nothing is in the menu.")
    monkeypatch.setattr("handlers.scheduled.repository_tasks.titles_of", tick_meanwhile)
    assert "[x] <!-- 2 1 same -->" in (keep(doppel).body or "")
    assert said(doppel) == [(2, 1, True, "box", "triage", 1.0)]


def test_c7_a_box_of_a_digest_that_nobody_knew_to_be_there_is_read_before_it_is_written(
    doppel: Doppel, digest: Issue
) -> None:
    """GitHub has opened it and the answer was lost: it is known by its marker alone, and its events are passed over."""
    doppel.services.store.digest_issues.set(doppel.repository.id, None, 0.0)
    ticked = (digest.body or "").replace("[ ] <!-- 2 1 other -->", "[x] <!-- 2 1 other -->")
    doppel.do.edit_issue(doppel.repo, 3, body=ticked, actor="write-person")
    assert said(doppel) == []
    doppel.open("The menu is empty", "Nothing is in the menu.")
    assert "[x] <!-- 2 1 other -->" in (keep(doppel).body or "")
    assert said(doppel) == [(2, 1, False, "box", "triage", 1.0)]


@pytest.mark.parametrize("deleted", [2, 1])
def test_c7_a_box_of_an_issue_that_was_deleted_says_nothing_any_more(
    doppel: Doppel, digest: Issue, deleted: int
) -> None:
    """Its box stays where it is until the digest is written again, and is read by then."""
    ticked = (digest.body or "").replace("[ ] <!-- 2 1 same -->", "[x] <!-- 2 1 same -->")
    doppel.do.edit_issue(doppel.repo, 3, body=ticked, actor="write-person")
    signals = doppel.services.store.signals
    assert [one.number for one in signals.since(doppel.repository.id, 0)] == [2]
    doppel.do.delete_issue(doppel.repo, deleted, "admin-person")
    assert signals.since(doppel.repository.id, 0) == []
    doppel.do.edit_issue(doppel.repo, 3, body=f"{ticked}\nThanks!", actor="admin-person")
    assert signals.since(doppel.repository.id, 0) == [], "nobody has said it, least of all the admin"
    keep(doppel)
    assert signals.since(doppel.repository.id, 0) == []


def test_c7_the_days_digest_comes_after_the_reactions_of_midnight(doppel: Doppel) -> None:
    midnight = 20_000 * 86_400.0
    wait = {chore.name: chore.wait for chore in scheduled_tasks(doppel.services)}
    begun = [
        {name for name in ("feedback", "digest") if wait[name](midnight - 1) <= 1 + later} for later in (0, 600, 1200)
    ]
    assert begun == [{"feedback"}, {"feedback"}, {"feedback", "digest"}]


def test_c7_a_digest_that_was_closed_is_left_alone(doppel: Doppel, digest: Issue) -> None:
    doppel.sim.close_issue(doppel.repo, 3, "maintain-person", "not_planned")
    before = digest.body
    doppel.open(*FIRST, author="eve")
    assert keep(doppel).body == before
    assert digest.state == "closed"


def test_c7_a_digest_whose_deletion_nobody_heard_of_is_opened_anew(doppel: Doppel, digest: Issue) -> None:
    with held_back(doppel):
        doppel.sim.delete_issue(doppel.repo, 3, "admin-person")
    again = keep(doppel)
    assert (again.number, plain(doppel, again.body or "")) == (4, WHOLE)


def test_c7_a_paused_host_keeps_no_digest(doppel: Doppel, digest: Issue) -> None:
    before = digest.body
    doppel.open(*FIRST, author="eve")
    with doppel.paused():
        doppel.turn(update_digests)
    assert digest.body == before
    doppel.turn(update_digests)
    assert digest.body != before


def test_c7_a_digest_that_github_refuses_is_kept_on_another_day(doppel: Doppel, digest: Issue) -> None:
    doppel.open(*FIRST, author="eve")
    before = digest.body
    doppel.sim.faults.add("PATCH */issues/3", 403, times=None)
    doppel.turn(update_digests)
    assert digest.body == before
    doppel.sim.faults.clear()
    doppel.turn(update_digests)
    assert digest.body != before


def test_c7_a_repository_that_does_not_ask_gets_no_digest(doppel: Doppel) -> None:
    doppel.configure("mode: shadow\n")
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    doppel.turn(update_digests)
    doppel.settle()
    assert [issue.number for issue in doppel.sim.issues_of(doppel.repository)] == [1, 2]


def test_c7_feedback_raises_the_bar_and_the_settings_win(doppel: Doppel) -> None:
    """Six comments that people with triage access call wrong, and then the same one comes a seventh time."""
    doppel.read_before(*FIRST)
    store, now, repo_id = doppel.services.store, doppel.services.now(), doppel.repository.id
    doppel.open(*AGAIN)
    assert doppel.said(2)
    assert store.decisions.of_issue(repo_id, 2)[0].threshold == 0.24
    for number in range(101, 107):
        evidence = (Evidence(1, 0.57, 1, True),)
        store.decisions.add(
            repo_id, Decision(number, now, "opened", "comment", DecisionOutcome.POSTED, 0.2, "", evidence)
        )
        signal = FeedbackSignal(number, FeedbackKind.REACTION, "triage-person", 0, False, Role.TRIAGE, now)
        store.signals.put(repo_id, signal)
    doppel.turn(poll_feedback)
    kept = store.calibrations.get(repo_id)
    assert kept is not None
    assert (kept.threshold, kept.right, kept.wrong) == (0.6, 0, 6)
    doppel.open(*AGAIN, author="bob")
    doppel.said(3)
    (decision,) = store.decisions.of_issue(repo_id, 3)
    assert decision.threshold == 0.6
    assert (decision.outcome is DecisionOutcome.POSTED) is (decision.evidence[0].probability >= 0.6)
    doppel.configure("min_confidence: 0.1\n")
    doppel.open(*AGAIN, author="cem")
    doppel.said(4)
    assert store.decisions.of_issue(repo_id, 4)[0].threshold == 0.1
    doppel.configure("calibrate: off\n")
    doppel.open(*AGAIN, author="dan")
    doppel.said(5)
    assert store.decisions.of_issue(repo_id, 5)[0].threshold == 0.24
    store.calibrations.reset(repo_id, now + 1)
    assert not recalibrate(store, repo_id, now + 2), "what was said before the reset counts no more"


def test_c7_a_comment_says_that_feedback_has_moved_the_bar(doppel: Doppel) -> None:
    store, repo_id = doppel.services.store, doppel.repository.id
    doppel.read_before(*FIRST)
    store.calibrations.move(repo_id, None, 0.1, 7, 0, doppel.services.now())
    doppel.open(*AGAIN)
    assert doppel.said(2)[0].count(
        "\n\nIssues are shown here at a probability of 10% or more: feedback in this repository has "
        "moved this from 24%.\n\n"
        "**To correct this**"
    ) == 1  # fmt: skip


def test_c7_the_digest_tells_of_a_week(doppel: Doppel, digest: Issue) -> None:
    doppel.sim.clock.advance(6.9 * 86_400)
    assert "looked at 2 issues" in (keep(doppel).body or "")
    doppel.sim.clock.advance(0.2 * 86_400)
    assert "looked at 0 issues" in (keep(doppel).body or "")
