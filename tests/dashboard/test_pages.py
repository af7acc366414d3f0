"""What the pages of a repository show to who may triage there."""

from __future__ import annotations

import html
from collections.abc import Callable

from flask.testing import FlaskClient

from bot.config import CONFIG_PATH
from bot.feedback import Kind, Signals, Who
from tests.dashboard.conftest import HOSTILE, Host, words

SignedIn = Callable[[str], FlaskClient]


def test_what_happened_lists_decisions_with_the_likeliest_candidate(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app").text)
    assert "#3 Grey map after the update commented #1 The map stays grey 71 %" in said
    assert "said nothing (nothing is near)" in said
    # The latest first.
    assert said.index("#2 &lt;script&gt;") < said.index("#3 Grey map")


def test_an_issues_page_has_the_evidence_of_each_candidate(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app/issues/3").text)
    assert "Doppel commented The issue was opened. Candidates are shown from 20 % on." in said
    assert (
        "1 #1 The map stays grey 71 % 👍 Yes 👎 No yes full-text (1), vectors (3) 62 % / 55 % words of titles" in said
    )
    assert "8 % 👍 Yes 👎 No no vectors (9)" in said


def test_a_hostile_title_stays_text(signed_in: SignedIn) -> None:
    for path in ("", "/issues/3", "/issues/2"):
        page = signed_in("tara").get(f"/dashboard/acme/app{path}").text
        assert "<script>alert" not in page and "javascript:" not in html.unescape(page).replace(HOSTILE, "")
        assert html.escape("<script>alert") in page


def test_nothing_runs_and_nothing_is_loaded_from_elsewhere(signed_in: SignedIn) -> None:
    answer = signed_in("tara").get("/dashboard/acme/app")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "<script" not in answer.text and " style=" not in answer.text
    assert len(answer.data) < 100_000


def test_a_vote_is_kept_as_feedback_changed_and_taken_back(host: Host, signed_in: SignedIn) -> None:
    browser, signals = signed_in("tara"), Signals(host.store.engine)

    def vote(said: str, other: int = 1) -> int:
        return browser.post("/dashboard/acme/app/issues/3", data={"other": other, "said": said}).status_code

    def kept() -> list[tuple[int, bool, Who, str]]:
        return [(one.other, one.same, one.who, one.login) for one in signals.of_issue(host.public, 3, Kind.VOTE)]

    assert vote("same") == 303
    assert kept() == [(1, True, Who.TRIAGE, "tara")]
    assert (
        'value="none" aria-pressed="true" aria-label="#1 is the same"'
        in browser.get("/dashboard/acme/app/issues/3").text
    )
    assert vote("other") == 303
    assert kept() == [(1, False, Who.TRIAGE, "tara")]
    assert vote("none") == 303
    assert kept() == []
    # Only what was a candidate can be voted on, and only with these words.
    assert vote("same", other=99) == vote("perhaps") == 400
    assert kept() == []


def test_another_sites_page_cannot_vote(host: Host, signed_in: SignedIn) -> None:
    answer = signed_in("tara").post(
        "/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert answer.status_code == 403
    assert Signals(host.store.engine).of_issue(host.public, 3, Kind.VOTE) == []


def test_feedback_shows_what_was_said_and_the_bar(host: Host, signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    assert "Doppel speaks from 20 % on: that is the usual bar" in words(
        browser.get("/dashboard/acme/app/feedback").text
    )
    browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"})
    said = words(browser.get("/dashboard/acme/app/feedback").text)
    assert "#3 #1 the same tara (triage) vote" in said


def test_settings_are_shown_as_read_with_what_is_wrong(host: Host, signed_in: SignedIn) -> None:
    repo = host.simulator.sim.repository("acme/app")
    repo.files[CONFIG_PATH] = b"min_confidence: 0.4\nmax_candidate: 3\n"
    said = words(signed_in("tara").get("/dashboard/acme/app/settings").text)
    assert f"As read from acme/app/{CONFIG_PATH}" in said
    assert "min_confidence 0.4 set" in said
    assert "line 2, column 1" in said and "did you mean max_candidates?" in html.unescape(said)
    assert "max_candidates 5" in said


def test_health_says_how_bot_and_index_are_and_that_nothing_was_given_up(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app/health").text)
    assert "Queue: ready" in said and "Store: ready" in said and "Worker: none is running" in said
    assert "Waiting: 3 issues" in said
    assert "Deliveries that were given up None." in said


def test_the_backlog_waits_for_the_index(signed_in: SignedIn) -> None:
    assert "not complete yet" in signed_in("tara").get("/dashboard/acme/app/backlog").text
