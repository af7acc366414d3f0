"""What the pages of a repository show to who may triage there."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Collection

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from bot.app.wiring.indexes import build_index
from bot.conversation.config.schema import CONFIG_PATH
from bot.deliveries.database import QueueUnavailable, jobs, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import IssueEvent
from bot.deliveries.inbox import Inbox
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import Actor, RepoRef, Repository
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.judge_protocol import JudgedPair, JudgeLimits, JudgeVerdict
from bot.domain.report import Evidence
from bot.github.repository import RepoClient
from bot.quality.feedback import decisions_on_pairs
from bot.search.index import IndexedIssue
from bot.storage.decisions import Decisions
from bot.storage.engine import write
from bot.storage.schema import texts
from tests.dashboard.conftest import HOSTILE, Host, words
from tests.effort import queries

pytestmark = pytest.mark.slow

SignedIn = Callable[[str], FlaskClient]


def test_what_happened_lists_decisions_with_the_likeliest_candidate(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app").text)
    assert "#3 Grey map after the update commented #1 The map stays grey 71%" in said
    assert "said nothing (nothing is near)" in said
    # The latest first.
    assert said.index("#2 &lt;script&gt;") < said.index("#3 Grey map")


def test_c7_the_weeks_digest_stands_above_what_happened_and_each_comment_can_be_voted_on(
    host: Host, signed_in: SignedIn
) -> None:
    browser = signed_in("tara")
    assert "the bot looked at" not in browser.get("/dashboard/acme/app").text
    host.look(2, time.time() - 60, DecisionOutcome.SHADOW, Evidence(1, 0.71, 1, True))
    said = words(browser.get("/dashboard/acme/app").text)
    assert (
        "the bot looked at 1 issue" in said and "It would have commented on 1." in said and "1 without feedback" in said
    )
    assert said.count("👍 Yes 👎 No") == 2, (
        "the newest decision on #2 and on #3, since the older one on #2 named nothing"
    )
    answer = browser.post("/dashboard/acme/app/issues/2", data={"other": 1, "said": "other", "back": "first"})
    assert (answer.status_code, answer.location) == (303, "/dashboard/acme/app#issue-2")
    page = browser.get("/dashboard/acme/app").text
    assert 'value="none" aria-pressed="true" aria-label="#2: #1 is another one"' in page
    assert 'aria-label="#3: #1 is another one"' in page and page.count('aria-pressed="true"') == 1
    assert "1 wrong" in words(page)


def test_on_older_pages_only_the_newest_decision_on_an_issue_is_asked_about(host: Host, signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    for number, at in ((2, 10.0), (2, 20.0), (3, 30.0)):
        host.look(number, at, DecisionOutcome.POSTED, Evidence(1, 0.71, 1, True))
    older = browser.get("/dashboard/acme/app?before=25").text
    assert words(older).count("#2 ") == 2
    # #2 and #3 have been looked at since, at 1,000,000 seconds and later.
    assert "👍 Yes" not in older


def test_a_full_page_of_what_happened_is_small_and_asks_few_queries(host: Host, signed_in: SignedIn) -> None:
    """50 decisions that people are asked about, with titles as long as they get, and ten candidates each."""
    evidence = [Evidence(n, 0.5, n, True, {"full-text": n}, (0.4, 0.4), ("words",)) for n in range(1, 11)]
    now, browser = time.time(), signed_in("tara")
    index = build_index(host.settings, host.store)
    index.put(
        host.public, [IndexedIssue(n, f"{n} {'long ' * 50}", "", author="ann", created_at=n) for n in range(1, 81)]
    )
    for n in range(20, 81):
        host.look(n, now - n, DecisionOutcome.SHADOW, *evidence, mode="shadow")
    with queries() as asked:
        answer = browser.get("/dashboard/acme/app")
    assert answer.text.count("👍 Yes") == 50
    assert len(answer.data) <= 100_000
    assert len(asked) <= 20, asked


def test_an_issues_page_has_the_evidence_of_each_candidate(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app/issues/3").text)
    assert "Doppel commented The issue was opened. Candidates are shown from 20% on." in said
    assert (
        "1 #1 The map stays grey 71% 👍 Yes 👎 No Side by side yes full-text (1), vectors (3) 62% / 55% words of titles"
        in said
    )
    assert "8% 👍 Yes 👎 No Side by side no vectors (9)" in said
    assert "Titles alike: by letters / by words. In common: of what is shown or has at least 5%." in said


def test_candidates_of_which_there_is_nothing_to_say_are_named_below_the_table(host: Host, signed_in: SignedIn) -> None:
    """Most of ten are 0% likely as a rule, and hid those of which a person might think otherwise."""
    elsewhere = Evidence(9, 0.002, 3, False, repo="acme/lib")
    found = Evidence(1, 0.3, 1, False), Evidence(2, 0.004, 2, False), elsewhere
    host.look(3, time.time(), DecisionOutcome.SILENT, *found)
    browser = signed_in("tara")
    newest = browser.get("/dashboard/acme/app/issues/3").text.split("</section>")[0]
    assert "2 more had less than 1%: #2 , acme/lib#9 ." in words(newest)
    assert newest.count('<td role="cell" data-label="Probability"') == 1
    host.look(2, time.time(), DecisionOutcome.SILENT, Evidence(1, 0.001, 1, False))
    assert "1 #1 The map stays grey 0%" in words(browser.get("/dashboard/acme/app/issues/2").text)


def test_both_texts_stand_side_by_side_with_what_they_share_marked(host: Host, signed_in: SignedIn) -> None:
    browser, error = signed_in("tara"), "read ECONNRESET at TLSWrap.onStreamRead"
    index = build_index(host.settings, host.store)
    index.put(host.public, [IndexedIssue(n, f"{HOSTILE} {n}", f"So: {error} {n}", author="ann") for n in (7, 8)])
    page = browser.get("/dashboard/acme/app/issues/8/with/7").text
    assert page.count("<mark>TLSWrap.onStreamRead</mark>") == 2
    assert "Same identifiers: TLSWrap, onStreamRead" in words(page)
    assert words(page).count("open since 1970-01-01") == 2 and "bot thought" not in words(page)
    host.look(8, 2_000_000.0, DecisionOutcome.SILENT, Evidence(7, 0.31, 1, False))
    page = browser.get("/dashboard/acme/app/issues/8/with/7").text
    assert "At its last look the bot thought 31% likely." in words(page)
    assert "<script>alert" not in page and 'data-copy="/duplicates of #7"' in page
    assert f'href="{host.simulator.url}/acme/app/issues/7"' in page
    answer = browser.post("/dashboard/acme/app/issues/8", data={"other": 7, "said": "other", "back": "pair"})
    assert (answer.status_code, answer.location) == (303, "/dashboard/acme/app/issues/8/with/7")
    assert 'aria-pressed="true" aria-label="#7 is another one"' in browser.get(answer.location).text
    assert browser.get("/dashboard/acme/app/issues/8/with/99").status_code == 404
    answer = browser.post("/dashboard/acme/app/issues/8", data={"other": 1, "said": "other", "back": "backlog"})
    assert (answer.status_code, answer.location) == (303, "/dashboard/acme/app/backlog")
    # D8: the scan reads it, so that the two are in no group together.
    assert {(1, 8), (7, 8)} <= decisions_on_pairs(host.store, host.public).different
    assert browser.post("/dashboard/acme/app/issues/8", data={"other": 99, "said": "same"}).status_code == 400
    assert signed_in("rita").get("/dashboard/acme/app/issues/8/with/7").status_code == 404


def test_j6_an_issues_page_has_the_judges_verdict_its_cause_and_what_it_cost(host: Host, signed_in: SignedIn) -> None:
    record, now = host.store.judgements, time.time()
    call = record.begin(host.public, 2, "ann", 900, JudgeLimits(10, 10_000, 10, 10_000, 10), now)
    assert call is not None
    record.end(call, 812, 97, 0.0123, 1.4)
    said = JudgedPair(JudgeVerdict.SAME, "the <b>tile server</b> is down")
    record.put(host.public, 2, {"key": (1, said)}, "reader-1 judge-1", now)
    judged = Evidence(1, 0.97, 1, True, verdict="same", judged_by="reader-1 judge-1", unjudged=0.41)
    host.look(2, now, DecisionOutcome.POSTED, judged)
    page = signed_in("tara").get("/dashboard/acme/app/issues/2").text
    assert "judged same by reader-1 judge-1 (the &lt;b&gt;tile server&lt;/b&gt; is down)" in page
    cost = "The judge was asked 1 time: 812 tokens in, 97 out, cost 0.0123, the last time 1.4 s."
    assert cost in words(page) and "97% 41% before the judge" in words(page)


def test_comments_that_nobody_has_judged_can_be_shown_alone(host: Host, signed_in: SignedIn) -> None:
    browser, now = signed_in("tara"), time.time()
    host.look(2, now - 60, DecisionOutcome.SHADOW, Evidence(1, 0.71, 1, True), mode="shadow")
    # What the bot's own doing caused hides nothing.
    host.look(2, now, DecisionOutcome.LEFT_ALONE, cause="reopened", mode="shadow", reason="a bot caused it")
    assert "👍 Yes" in words(browser.get("/dashboard/acme/app/issues/2").text)
    said = words(browser.get("/dashboard/acme/app?judged=no").text)
    assert said.count("👍 Yes") == 2
    browser.post("/dashboard/acme/app/issues/2", data={"other": 1, "said": "same", "back": "first"})
    said = words(browser.get("/dashboard/acme/app?judged=no").text)
    assert "#3 Grey map" in said and said.count("👍 Yes") == 1
    browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "other"})
    assert "None: somebody has judged each." in words(browser.get("/dashboard/acme/app?judged=no").text)


def test_the_first_page_says_how_each_repository_does(host: Host, signed_in: SignedIn) -> None:
    now = time.time()
    for number in (2, 3):
        host.look(number, now - 60, DecisionOutcome.POSTED, Evidence(1, 0.7, 1, True), cause="opened")
    browser = signed_in("tara")
    browser.post("/dashboard/acme/app/issues/3", data={"other": 1, "said": "other"})
    assert "acme/app comment waiting 2 0 1 1" in words(browser.get("/dashboard").text)


def test_an_issues_page_says_why_it_was_looked_at(host: Host, signed_in: SignedIn) -> None:
    causes = {
        "edited": "The issue was edited.",
        "command": "Asked by a command.",
        "verdict": "Somebody decided about a pair.",
        "overtaken": "An earlier issue came in after it.",
        "indexed": "The index was complete by then.",
    }
    for cause in causes:
        host.look(3, time.time(), DecisionOutcome.SILENT, cause=cause)
    said = words(signed_in("tara").get("/dashboard/acme/app/issues/3").text)
    assert [told for told in causes.values() if said.count(told) != 1] == []


def test_a_hostile_title_stays_text(signed_in: SignedIn) -> None:
    for path in ("", "/issues/3", "/issues/2"):
        page = signed_in("tara").get(f"/dashboard/acme/app{path}").text
        assert "<script>alert" not in page and "javascript:" not in html.unescape(page).replace(HOSTILE, "")
        assert html.escape("<script>alert") in page


def test_a_title_that_turns_its_line_around_turns_nothing_else(host: Host, signed_in: SignedIn) -> None:
    index = build_index(host.settings, host.store)
    index.put(host.public, [IndexedIssue(3, "\u202eeteled \u2066", "", author="eve", created_at=3)])
    for path in ("", "/issues/3"):
        page = signed_in("tara").get(f"/dashboard/acme/app{path}").text
        assert page.count("\u202e") == page.count("<bdi>\u202eeteled \u2066</bdi>") > 0


def test_nothing_runs_and_nothing_is_loaded_from_elsewhere(signed_in: SignedIn) -> None:
    answer = signed_in("tara").get("/dashboard/acme/app")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "<script" not in answer.text and " style=" not in answer.text
    assert len(answer.data) < 100_000


def test_an_address_that_no_place_on_github_has_leads_nowhere(signed_in: SignedIn) -> None:
    browser = signed_in("tara")
    for path in ("acme/%00", "acme/app%00", "acme/app/issues/9223372036854775808", f"acme/app/issues/{'9' * 40}"):
        assert browser.get(f"/dashboard/{path}").status_code == 404, path


def test_who_is_refused_reads_why_and_can_sign_out(signed_in: SignedIn) -> None:
    browser, unknown = signed_in("rita"), ("nothing", "app/issues/abc", "app/issues/99999999999", "app/nothing")
    for path in ("acme", "acme/app", *(f"acme/{one}" for one in unknown)):
        refused = browser.get(f"/dashboard/{path}")
        assert (refused.status_code, refused.mimetype) == (404, "text/html"), path
        said = words(refused.text)
        assert "There is no such page, or you may not see it" in said and "rita Sign out" in said
        assert refused.headers["Cache-Control"] == "no-store"


def test_the_weeks_digest_reads_no_more_than_what_the_weeks_issues_need(
    host: Host, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said in a year can be about ten thousand decisions, which took seconds to read for each look."""
    browser, now, read = signed_in("tara"), time.time(), set[int]()
    old, new = now - 90 * 86_400, now - 60
    for number, at, other in ((50, old, 1), (51, old, 1), (52, new, 51), (53, new, 1)):
        host.look(number, at, DecisionOutcome.POSTED, Evidence(other, 0.7, 1, True))
    # Of the pair 52 and 51 it was said on the other one; of 50 nobody asks this week.
    for number, other, same in ((50, 1, True), (51, 52, True), (53, 1, False)):
        host.store.signals.put(
            host.public, FeedbackSignal(number, FeedbackKind.NOT, "tara", other, same, Role.TRIAGE, now - 30)
        )
    of_issues = Decisions.of_issues

    def noted(self: Decisions, repo_id: int, numbers: Collection[int]) -> list[Decision]:
        read.update(numbers)
        return of_issues(self, repo_id, numbers)

    monkeypatch.setattr(Decisions, "of_issues", noted)
    said = words(browser.get("/dashboard/acme/app").text)
    assert "1 right" in said and "1 wrong" in said
    assert read == {1, 51, 52, 53}


def test_settings_are_shown_as_read_with_what_is_wrong(host: Host, signed_in: SignedIn) -> None:
    repo = host.simulator.sim.repository("acme/app")
    repo.files[CONFIG_PATH] = b"min_confidence: 0.4\nmax_candidate: 3\nmode: comment\nonly_labels: [bug, crash]\n"
    said = words(signed_in("tara").get("/dashboard/acme/app/settings").text)
    assert f"As read from acme/app/{CONFIG_PATH}" in said
    assert "min_confidence 0.4 not the default" in said and "only_labels bug, crash not the default" in said
    # The file names it, but nothing is different for it.
    assert "mode comment min_confidence" in said
    assert "line 2, column 1" in said and "did you mean max_candidates?" in html.unescape(said)
    assert "max_candidates 3" in said and "known_issues none" in said and "sources the usual ones" in said


def test_health_says_how_bot_and_index_are_and_that_nothing_was_given_up(signed_in: SignedIn) -> None:
    said = words(signed_in("tara").get("/dashboard/acme/app/health").text)
    assert "Queue: ready" in said and "Store: ready" in said and "Worker: none is running" in said
    assert "Waiting: 3 issues" in said
    assert "Deliveries that were given up None." in said


def test_health_is_told_though_nobody_knows_what_was_given_up(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise QueueUnavailable("the queue's database is busy")

    browser = signed_in("tara")
    monkeypatch.setattr(DeadLetters, "of", away)
    answer = browser.get("/dashboard/acme/app/health")
    assert answer.status_code == 200
    said = html.unescape(words(answer.text))
    assert "They cannot be listed now: the queue's database is busy." in said and "Store: ready" in said


def test_what_was_given_up_is_a_repositorys_own_however_much_others_have(host: Host, signed_in: SignedIn) -> None:
    ann, inbox = Actor("ann"), Inbox(host.settings)
    # Of a repository that had this one's name before, and of this one when it had another.
    for repo_id, name, count in ((host.public, "acme/old", 1), (4711, "acme/app", 101)):
        place = Repository(repo_id, RepoRef.parse(name), private=False)
        for number in range(count):
            inbox.put(f"of-{repo_id}-{number}", IssueEvent("opened", 1, place, number + 1, ann, ann))
    engine = queue_engine(host.settings)
    with write(engine) as connection:
        connection.execute(sa.update(jobs).values(state="dead", done_at=1_750_000_000))
    said = words(signed_in("tara").get("/dashboard/acme/app/health").text)
    assert f"of-{host.public}-0" in said
    assert "of-4711" not in said
    inbox.close()
    engine.dispose()


def test_the_backlog_waits_for_the_index(signed_in: SignedIn) -> None:
    assert "not complete yet" in signed_in("tara").get("/dashboard/acme/app/backlog").text


def test_c6a_settings_that_a_page_reads_while_access_ends_do_not_stay(
    host: Host, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may wait for GitHub for seconds, and the worker erases meanwhile."""
    host.simulator.sim.write_file("acme/secret", CONFIG_PATH, "mode: shadow\n")
    browser, store = signed_in("mona"), host.store
    read = RepoClient.file

    def overtaken(self: RepoClient, repo: RepoRef, path: str) -> str | None:
        text = read(self, repo, path)
        store.forget(host.private)
        return text

    monkeypatch.setattr(RepoClient, "file", overtaken)
    browser.get("/dashboard/acme/secret/settings")
    with store.engine.connect() as connection:
        kept = sa.select(texts.c.name).where(texts.c.repo_id == host.private)
        assert connection.execute(kept).all() == []
