"""What people say on the dashboard, and what all have said."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from bot.domain.decisions import DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.report import Evidence
from tests.dashboard.conftest import Host, words

pytestmark = pytest.mark.slow

SignedIn = Callable[[str], FlaskClient]


def test_a_vote_is_kept_as_feedback_changed_and_taken_back(host: Host, signed_in: SignedIn) -> None:
    browser, signals = signed_in("tara"), host.store.signals

    def vote(said: str, other: int = 1) -> int:
        return browser.post("/dashboard/acme/app/issues/3", data={"other": other, "said": said}).status_code

    def kept() -> list[tuple[int, bool, Role, str]]:
        return [
            (one.other, one.same, one.who, one.login) for one in signals.of_issue(host.public, 3, FeedbackKind.VOTE)
        ]

    assert vote("same") == 303
    assert kept() == [(1, True, Role.TRIAGE, "tara")]
    assert (
        'value="none" aria-pressed="true" aria-label="#1 is the same"'
        in browser.get("/dashboard/acme/app/issues/3").text
    )
    assert vote("other") == 303
    assert kept() == [(1, False, Role.TRIAGE, "tara")]
    assert vote("none") == 303
    assert kept() == []
    # Only what was a candidate can be voted on, and only with these words.
    assert vote("same", other=99) == vote("perhaps") == 400
    # Not what bears the number in another repository.
    host.look(3, 1_000_300.0, DecisionOutcome.POSTED, Evidence(7, 0.6, 1, True, repo="acme/lib"))
    assert vote("same", other=7) == 400
    assert kept() == []


# What browsers send with a form of another site's page, of a sibling's and of a sandboxed one; the last four over plain
# HTTP to another machine, where they do not say which site it is.
ELSEWHERE: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8080"},
    {"Origin": "http://evil.example"},
    {"Origin": "http://localhost:8080"},
    {"Origin": "https://localhost"},
    {"Origin": "null"},
]
HERE: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
    {"Origin": "http://localhost"},
    {"Origin": "https://localhost", "X-Forwarded-Proto": "https"},
    {"Origin": "http://host.lan:3000", "Host": "host.lan:3000"},
    {},
]


@pytest.mark.parametrize(
    ("headers", "status"), [*((headers, 403) for headers in ELSEWHERE), *((headers, 303) for headers in HERE)], ids=str
)
def test_another_sites_page_cannot_vote(host: Host, signed_in: SignedIn, headers: dict[str, str], status: int) -> None:
    browser = signed_in("tara")
    session = browser.get_cookie("doppel_session")
    assert session is not None
    browser.set_cookie("doppel_session", session.value, domain="host.lan")
    answer = browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"}, headers=headers)
    assert answer.status_code == status
    assert len(host.store.signals.of_issue(host.public, 3, FeedbackKind.VOTE)) == (status == 303)


def test_feedback_shows_what_was_said_and_the_bar(host: Host, signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    assert "Doppel speaks from 24% on: that is the default" in words(browser.get("/dashboard/acme/app/feedback").text)
    browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "same"})
    said = words(browser.get("/dashboard/acme/app/feedback").text)
    assert "#3 #1 the same tara (triage) vote" in said
    assert "put back" not in said
    host.store.calibrations.reset(host.public, time.time())
    said = words(browser.get("/dashboard/acme/app/feedback").text)
    assert "moves it no more" in said
    assert "#3 #1 the same tara (triage) vote" in said, "it is still what was said"


def test_all_feedback_can_be_read_a_page_at_a_time(host: Host, signed_in: SignedIn) -> None:
    browser, now = signed_in("tara"), time.time()
    evidence = [Evidence(n, 0.5, n, True, {"full-text": n}) for n in range(1, 11)]
    for n in range(20, 60):
        host.look(n, now - n, DecisionOutcome.POSTED, *evidence)
        for other in range(1, 11):
            host.store.signals.put(
                host.public, FeedbackSignal(n, FeedbackKind.VOTE, "tara", other, False, Role.TRIAGE, now - n)
            )
    path, seen = "/dashboard/acme/app/feedback", list[str]()
    while path:
        page = browser.get(path)
        assert len(page.data) <= 100_000
        seen += re.findall(r'issues/(\d+)">#\1</a>\s+<td [^>]+data-label="Compared', page.text)
        older = re.search(r'href="([^"]+)">older', page.text)
        path = html.unescape(older[1]) if older else ""
    assert seen == [str(n) for n in range(20, 60) for _ in evidence], "the latest first"
    beyond = browser.get("/dashboard/acme/app/feedback?skip=9999")
    assert "No more than that was said" in beyond.text and "Nothing yet" not in beyond.text
    for odd in ("-1", "x", "9" * 30):
        assert browser.get(f"/dashboard/acme/app/feedback?skip={odd}").status_code == 200
