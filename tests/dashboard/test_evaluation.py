"""The page of a repository's evaluation: what it says and shows, and who may have it done, how often."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from bot.conversation.config.schema import CONFIG_PATH
from bot.deliveries.database import QueueUnavailable
from bot.deliveries.events import EvaluationEvent
from bot.deliveries.inbox import Inbox
from bot.domain.feedback import UserVerdictKind
from bot.interfaces.dashboard.evaluation_page import page, with_threshold
from bot.quality.evaluation.figures import evaluate
from bot.quality.evaluation.measures import JudgedArrival, Unmarked
from bot.quality.evaluation.runs import DAY, EvaluationRun, EvaluationRuns, Stage, StoredEvaluation
from bot.storage.repositories import Progress
from tests.dashboard.conftest import Host, figures, words
from tests.effort import queries

pytestmark = pytest.mark.slow

SignedIn = Callable[[str], FlaskClient]
PAGE = "/dashboard/acme/app/evaluation"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[EvaluationEvent]:
    """The evaluations that have been put into the queue."""
    put, seen = Inbox.put, []

    def putting(self: Inbox, delivery_id: str, event: EvaluationEvent, delay_seconds: float = 0.0) -> bool:
        seen.append(event)
        return put(self, delivery_id, event, delay_seconds)

    monkeypatch.setattr(Inbox, "put", putting)
    return seen


def test_the_sentence_comes_first_then_what_to_set_and_the_table(evaluated: None, signed_in: SignedIn) -> None:
    answer = signed_in("tara").get(PAGE)
    said = html.unescape(words(answer.text))
    begin = said.index("50% of the known duplicates have an original among the first five candidates")
    assert begin < said.index("At .45 it would have commented on")
    begin = said.index("At .45 it would have commented on")
    assert said[begin:].startswith(
        "At .45 it would have commented on 5 of 244 issues in the last month (naming the same report: 4 by confidence, "
        "5 by mark): the 30 days up to the newest issue, of 2025-05-05. Nobody has triaged these issues yet, so "
        "unmarked ones may still be duplicates. Over the whole history, from 2025-01-01 on, it would "
        "have commented on 20 of 1,000 issues (naming the same report: 14 by confidence, 20 by mark): it would have "
        "caught 50% of the known duplicates and commented on 0% of the other issues. Recommended: .45 Recommended is "
        "min_confidence: 0.45, since it catches the most duplicates while surely commenting on"
    )
    assert f"write into {CONFIG_PATH} on the default branch: min_confidence: 0.45" in said
    assert ".24 in force" in said and ".45 recommended 4.9 69% 100% 50% 0%" in said
    assert answer.text.count("<svg ") == 2 and " style=" not in answer.text and "<style" not in answer.text
    assert "<script" not in answer.text


def test_the_likeliest_that_nobody_marked_can_be_read(host: Host, evaluated: None, signed_in: SignedIn) -> None:
    """Only what is still in the index, and titles are strangers' text."""
    unmarked = (Unmarked(3, 1, 0.5), Unmarked(3, 2, 0.4), Unmarked(9, 1, 0.3))
    EvaluationRuns(host.store.engine).put(host.public, replace(figures(), unmarked=unmarked), 1_750_000_000.0)
    text = signed_in("tara").get(PAGE).text
    said = html.unescape(words(text))
    begin = said.index("These are the likeliest pairs that nobody marked as duplicates")
    part = said[begin : said.index("How often the first candidate")]
    assert "50% #3 Grey map after the update #1 The map stays grey" in part
    assert "40% #3 Grey map after the update #2 <script>alert" in part and "<script>" not in text
    assert "30%" not in part
    host.store.verdicts.add(host.public, 1, 3, UserVerdictKind.NOT, actor="tara", command_id=1, now=0.0)
    rest = html.unescape(words(signed_in("tara").get(PAGE).text))
    assert "50% #3" not in rest and "40% #3" in rest, "somebody has read the first and rejected it"
    EvaluationRuns(host.store.engine).put(host.public, replace(figures(), unmarked=unmarked[2:]), 1_750_000_000.0)
    assert "Alarms for nothing?" not in signed_in("tara").get(PAGE).text, "nothing of it is there any more"


def test_where_nobody_marked_a_duplicate_nothing_is_said_of_what_is_right(
    host: Host, evaluated: None, signed_in: SignedIn
) -> None:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    judged = [
        JudgedArrival(n, start + timedelta(hours=n), None, ((1, 0.3),) if n % 100 == 1 else ()) for n in range(1000)
    ]
    found = evaluate(judged, issues=1_000, arrived=[one.arrived for one in judged], min_confidence=0.2)
    EvaluationRuns(host.store.engine).put(host.public, found, 1_750_000_000.0)
    answer = signed_in("tara").get(PAGE)
    said = html.unescape(words(answer.text))
    assert "on, it would have commented on 10 of 1,000 issues (naming the same report: 3 by confidence)." in said
    assert "Threshold A month The same Of all .05 7.3 30% 1%" in said and ".35 0.0 – 0%" in said
    for word in ("by mark", "Caught", "Of the others", "<svg", "Marks are incomplete"):
        assert word not in answer.text
    assert "Close a few duplicates by GitHub's own menu, and evaluate again" in said


def test_a_threshold_that_is_set_there_already_is_to_be_changed(
    host: Host, evaluated: None, signed_in: SignedIn
) -> None:
    repo = host.simulator.sim.repository("acme/app")
    repo.files[CONFIG_PATH] = b"min_confidence: 0.33\n"
    said = words(signed_in("tara").get(PAGE).text)
    assert "(there is a min_confidence already: change that line)" in said
    # Of what is in force now, not of the day on which it was made.
    assert ".33 in force" in said and ".24 in force" not in said


def test_a_button_has_it_done_once_a_day(
    host: Host, evaluated: None, signed_in: SignedIn, queued: list[EvaluationEvent]
) -> None:
    browser = signed_in("tara")
    assert "Evaluate again" in browser.get(PAGE).text
    answer = browser.post(PAGE)
    assert (answer.status_code, answer.location) == (303, PAGE)
    (event,) = queued
    assert event.repository.id == host.public
    assert event.chain == EvaluationRuns(host.store.engine).get(host.public).run.chain
    shown = browser.get(PAGE).text
    assert "Waiting for a worker." in shown and '<form method="post">' not in shown
    assert browser.post(PAGE).status_code == 303
    assert len(queued) == 1, "one at a time"
    # The result before is still there.
    assert "At .45 it would have commented" in shown


def test_it_waits_for_the_index(host: Host, signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    assert "The index of this repository is not complete yet" in words(browser.get(PAGE).text)
    browser.post(PAGE)
    assert EvaluationRuns(host.store.engine).get(host.public).run.stage is Stage.NONE
    host.store.backfills.set(host.public, Progress(done=True))
    assert "Evaluate now" in browser.get(PAGE).text


def test_neither_a_stranger_nor_another_sites_page_can_have_it_done(
    host: Host, evaluated: None, signed_in: SignedIn
) -> None:
    assert signed_in("rita").post(PAGE).status_code == 404
    assert signed_in("tara").post(PAGE, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert EvaluationRuns(host.store.engine).get(host.public).run.stage is Stage.NONE


def test_a_queue_that_is_away_begins_nothing_and_is_named(
    host: Host, evaluated: None, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> bool:
        raise QueueUnavailable("the queue's database is busy")

    monkeypatch.setattr(Inbox, "put", away)
    browser = signed_in("tara")
    assert browser.post(PAGE).status_code == 503
    assert "The last try ended early. No new result: the queue's database is busy." in html.unescape(
        words(browser.get(PAGE).text)
    )


def state(run: EvaluationRun, moment: datetime) -> tuple[bool, str, str]:
    shown = page(StoredEvaluation(run), 0.2, moment.timestamp())
    return shown["busy"], shown["state"], shown["problem"]


def test_each_state_is_said() -> None:
    at = NOW.timestamp()
    running = EvaluationRun(Stage.RUNNING, "a", at, "GitHub's limit is used up")
    told = "It is being evaluated, which takes some minutes."
    assert state(running, NOW) == (True, told, "GitHub's limit is used up")
    assert state(running, NOW + timedelta(days=1))[:2] == (False, "The last try was lost on its way.")
    done = page(StoredEvaluation(EvaluationRun(Stage.DONE, "a", at)), 0.2, at + 3600)
    assert (done["busy"], done["state"], done["again"]) == (False, "", at + DAY)


def test_a_bar_between_two_kept_thresholds_is_shown_as_the_nearest() -> None:
    found = figures()
    assert with_threshold(found, 0.2) is found
    assert with_threshold(found, 0.387).at.cut == 0.39
    assert with_threshold(found, 1.0).at.cut == 0.99


def test_what_was_asked_for_is_small_and_asks_few_queries(evaluated: None, signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    for path in (PAGE, "/dashboard/acme/app"):
        with queries() as asked:
            answer = browser.get(path)
        assert answer.status_code == 200 and len(answer.data) <= 100_000
        assert len(asked) <= 20, asked
