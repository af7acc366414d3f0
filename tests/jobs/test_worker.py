"""What inbox and worker promise together, on SQLite and on PostgreSQL alike.

One worker serves all tests of a database, since DBOS is one to a process; each test names the issues that it uses.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from dbos import DBOSClient

from bot.errors import InvalidArgument, RateLimited
from bot.events import IssueEvent, to_json
from bot.jobs import Inbox, Job, debounce
from bot.jobs.fairness.lanes import lane_of
from bot.jobs.queue.cleanup import KEEP_CONTENT, KEEP_DEAD, KEEP_FINISHED, clean
from bot.jobs.queue.database import input_table, queue_client, trials, workflow_table
from bot.jobs.queue.enqueue import enqueue
from bot.jobs.queue.job import Message
from bot.jobs.recovery.trials import MOST_DEATHS
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings
from tests.jobs.bench import Bench, event, new_number, replay
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.slow


def test_each_issue_in_order_of_arrival_and_several_at_a_time(bench: Bench) -> None:
    together = threading.Barrier(3)

    def meet(job: Job) -> None:
        together.wait(LONGEST)

    issues = [new_number() for _ in range(3)]
    firsts = [f"order-{issue}-0" for issue in issues]
    for first in firsts:
        bench.reactions[first] = meet
    deliveries = {issue: [f"order-{issue}-{place}" for place in range(8)] for issue in issues}
    for place in range(8):
        for issue in issues:
            assert bench.inbox.put(deliveries[issue][place], event(issue))
    everything = [delivery for of_issue in deliveries.values() for delivery in of_issue]
    wait_until(lambda: len(bench.calls(*everything)) == 24)
    for of_issue in deliveries.values():
        assert [delivery for delivery, _, _ in bench.calls(*of_issue)] == of_issue
    assert not together.broken, "three issues were not worked on at the same time"


def test_a_job_says_when_its_delivery_was_taken(bench: Bench, number: int) -> None:
    # It is kept in thousandths of a second.
    before = time.time() - 0.001
    bench.inbox.put("taken", event(number))
    after = time.time()
    wait_until(lambda: bench.calls("taken"))
    assert before <= bench.arrived["taken"] <= after


def test_a_redelivery_is_a_no_op_before_and_after_it_was_handled(bench: Bench, number: int) -> None:
    assert bench.inbox.put("again", event(number))
    assert not bench.inbox.put("again", event(number))
    wait_until(lambda: bench.statuses("again") == ["SUCCESS"])
    assert not bench.inbox.put("again", event(number, "closed"))
    bench.inbox.put("marker", event(number))
    wait_until(lambda: bool(bench.calls("marker")))
    assert len(bench.calls("again")) == 1


def test_retryable_waits_as_told_and_keeps_the_order_of_its_issue(bench: Bench, number: int) -> None:
    other = new_number()

    def limited_once(job: Job) -> None:
        if job.attempt == 1:
            raise RateLimited("search is used up", after=60)

    bench.reactions["limited"] = limited_once
    bench.inbox.put("limited", event(number))
    wait_until(lambda: bench.statuses("limited~2") == ["DELAYED"])
    assert 60 <= bench.waits("limited~2") <= 66
    bench.inbox.put("behind", event(number))
    bench.inbox.put("beside", event(other))
    # What is behind it steps aside for as long.
    wait_until(lambda: bench.calls("beside") and bench.statuses("behind~2") == ["DELAYED"])
    bench.due("limited~2", "behind~2")
    wait_until(lambda: len(bench.calls("limited", "behind", "beside")) == 4)
    calls = bench.calls("limited", "behind", "beside")
    assert [call[:2] for call in calls] == [("limited", 1), ("beside", 1), ("limited", 2), ("behind", 1)]
    assert not bench.dead_letters.list()


def test_a_poisonous_job_ends_as_a_dead_letter_that_can_be_retried(
    bench: Bench, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(job: Job) -> None:
        raise ValueError("private text of the issue")

    # SQLite before 3.42 keeps it in whole seconds.
    bench.reactions["poison"], before = fail, int(time.time())
    bench.inbox.put("poison", event(number))
    bench.inbox.put("next", event(number))
    with caplog.at_level(logging.INFO):
        wait_until(lambda: bool(bench.dead_letters.list()))
    wait_until(lambda: bool(bench.calls("next")))
    assert [attempt for _, attempt, _ in bench.calls("poison")] == [1, 2, 3]
    (letter,) = bench.dead_letters.list()
    assert (letter.delivery_id, letter.attempts, letter.event) == ("poison", 3, "issues.opened")
    assert letter.repository == RepoRef("acme", "app")
    assert before <= letter.failed_at <= time.time()
    assert "ValueError" in letter.reason
    assert "poison" in caplog.text
    assert "private text" not in caplog.text + letter.reason

    del bench.reactions["poison"]
    assert bench.dead_letters.retry("poison")
    assert bench.dead_letters.list() == []
    wait_until(lambda: len(bench.calls("poison")) == 4)
    assert bench.calls("poison")[-1][1] == 1, "a retried letter has all its attempts again"
    assert not bench.dead_letters.retry("poison"), "once retried it is no dead letter"
    clean(bench.engine, time.time() + KEEP_CONTENT + 2)
    assert not bench.has_content("poison~3"), "nor is its content kept twice"
    clean(bench.engine, time.time() + KEEP_FINISHED + 2)
    assert bench.dead_letters.list() == [], "nor when its retry is forgotten"
    assert not bench.dead_letters.retry("unknown")


def test_a_user_error_ends_the_job(bench: Bench, number: int) -> None:
    def refuse(job: Job) -> None:
        raise InvalidArgument("limit", "must be at least 1")

    bench.reactions["refused"] = refuse
    bench.inbox.put("refused", event(number))
    wait_until(lambda: bench.statuses("refused") == ["SUCCESS"])
    assert bench.statuses("refused~2") == []
    assert not bench.dead_letters.list()


def test_what_took_its_worker_down_too_often_becomes_a_dead_letter(bench: Bench, number: int) -> None:
    bench.inbox.put("deadly", event(number), delay_seconds=60)
    bench.claimed("deadly", 5)
    with bench.engine.begin() as connection:
        connection.execute(sa.insert(trials).values(workflow_id="deadly", begun=MOST_DEATHS))
    bench.due("deadly")
    wait_until(lambda: bool(bench.dead_letters.list()))
    (letter,) = bench.dead_letters.list()
    assert (letter.delivery_id, letter.attempts) == ("deadly", 0)
    assert not bench.calls("deadly")
    assert bench.dead_letters.retry("deadly")
    wait_until(lambda: bool(bench.calls("deadly")))
    assert not bench.dead_letters.list()


def test_a_dead_letter_can_be_retried_whose_worker_was_killed_after_its_next_run_was_put_into_the_queue(
    bench: Bench, number: int
) -> None:
    bench.inbox.put("killed", event(number), delay_seconds=60)
    bench.claimed("killed", 5)
    text = to_json(event(number))
    second = Message("killed", 2, 1, time.time_ns() // 1_000_000, event(number).partition, text, lane_of(event(number)))
    assert enqueue(queue_client(bench.engine), bench.engine, second, 0.0)
    with bench.engine.begin() as connection:
        connection.execute(sa.insert(trials).values(workflow_id="killed", begun=MOST_DEATHS))
    bench.due("killed")
    wait_until(lambda: bool(bench.dead_letters.list()))
    wait_until(lambda: bench.statuses("killed~2") == ["SUCCESS"])
    assert bench.dead_letters.retry("killed")
    wait_until(lambda: bench.statuses("killed~3") == ["SUCCESS"])
    assert not bench.dead_letters.list()
    assert not bench.dead_letters.retry("killed")


def test_edits_wait_and_later_events_of_the_issue_do_not_wait_for_them(bench: Bench, number: int) -> None:
    edited = event(number, "edited")
    assert debounce(edited, 3.0) == 3.0
    assert debounce(event(number), 3.0) == 0.0
    bench.inbox.put("edit", edited, delay_seconds=60)
    bench.inbox.put("label", event(number, "labeled"))
    wait_until(lambda: bench.calls("label"))
    assert bench.statuses("edit") == ["DELAYED"]
    assert bench.waits("edit") == 60
    bench.due("edit")
    wait_until(lambda: bench.calls("edit"))


def test_text_that_no_database_can_store_is_mended(bench: Bench, number: int) -> None:
    ann = Actor("ann")
    repository = Repository(5, RepoRef("acme", "app"), private=False)
    assert bench.inbox.put("odd", IssueEvent("labeled", 1, repository, number, ann, ann, label="\ud83d \0 🦆"))
    wait_until(lambda: bool(bench.calls("odd")))


def test_c6a_finished_jobs_lose_their_content_and_later_their_trace(bench: Bench, number: int) -> None:
    bench.inbox.put("old", event(number))
    wait_until(lambda: bench.statuses("old") == ["SUCCESS"])
    now = time.time() + 2
    clean(bench.engine, now)
    assert bench.has_content("old")
    clean(bench.engine, now + KEEP_CONTENT)
    assert not bench.has_content("old")
    assert not bench.inbox.put("old", event(number)), "its id is still known"
    assert clean(bench.engine, now + KEEP_FINISHED)
    assert bench.statuses("old") == []


@pytest.mark.parametrize("stamp", ["arrived", "done"])
def test_c6a_what_a_clock_stamped_that_was_set_back_since_keeps_no_content(
    bench: Bench, number: int, stamp: str
) -> None:
    """It ran a day ahead, and the content would stay for as much longer."""
    delivery = f"{stamp}-early"
    bench.inbox.put(delivery, event(number))
    wait_until(lambda: bench.statuses(delivery) == ["SUCCESS"])
    table, column = {
        "arrived": (input_table(bench.engine), "retention_timestamp"),
        "done": (workflow_table(bench.engine), "completed_at"),
    }[stamp]
    with bench.engine.begin() as connection:
        later = {column: int(time.time() + 86_400) * 1000}
        connection.execute(sa.update(table).where(table.c.workflow_uuid == delivery).values(later))
    clean(bench.engine, time.time())
    assert not bench.has_content(delivery)
    assert not bench.inbox.put(delivery, event(number)), "its id is still known"


def test_dead_letters_are_kept_for_a_month(bench: Bench, number: int) -> None:
    def fail(job: Job) -> None:
        raise ValueError

    bench.reactions["dead"] = fail
    bench.inbox.put("dead", event(number))
    wait_until(lambda: bool(bench.dead_letters.list()))
    now = time.time() + 2
    clean(bench.engine, now + KEEP_FINISHED)
    assert [letter.delivery_id for letter in bench.dead_letters.list()] == ["dead"]
    clean(bench.engine, now + KEEP_DEAD)
    assert bench.dead_letters.list() == []


def test_c6a_erasing_a_repository_takes_the_content_of_its_dead_letters(bench: Bench, number: int) -> None:
    def fail(job: Job) -> None:
        raise ValueError

    for delivery, repo_id in (("lost", 78), ("lost-too", 780)):
        bench.reactions[delivery] = fail
        bench.inbox.put(delivery, event(number, repo_id=repo_id))
    wait_until(lambda: len(bench.dead_letters.list()) == 2)
    time.sleep(0.01)
    bench.inbox.erase(78, time.time())
    assert [letter.delivery_id for letter in bench.dead_letters.list()] == ["lost-too"]
    assert not any(map(bench.has_content, ("lost", "lost~2", "lost~3")))
    assert not bench.dead_letters.retry("lost"), "there is nothing left to be retried"
    del bench.reactions["lost-too"]
    assert bench.dead_letters.retry("lost-too")
    wait_until(lambda: bench.statuses("lost-too~4") == ["SUCCESS"])


def test_a_dead_letter_that_this_version_cannot_read_is_listed_all_the_same(bench: Bench, number: int) -> None:
    bench.inbox.put("foreign", event(number), delay_seconds=60)
    inputs = input_table(bench.engine)
    foreign = sa.func.replace(inputs.c.inputs, "issue", "riddle")
    with bench.engine.begin() as connection:
        connection.execute(inputs.update().where(inputs.c.workflow_uuid == "foreign").values(inputs=foreign))
    bench.due("foreign")
    wait_until(lambda: bool(bench.dead_letters.list()))
    (letter,) = bench.dead_letters.list()
    assert (letter.delivery_id, letter.event, letter.repository) == ("foreign", "unknown", None)
    assert "KeyError" in letter.reason
    clean(bench.engine, time.time() + KEEP_DEAD + 2)


def test_c6a_erasing_a_repository_cancels_what_waits_and_drops_what_it_held(bench: Bench, number: int) -> None:
    bench.inbox.put("gone", event(number, repo_id=77), delay_seconds=60)
    bench.inbox.put("done", event(number, repo_id=77))
    bench.inbox.put("similar", event(number, repo_id=770), delay_seconds=60)
    bench.inbox.put("replay", replay(77), delay_seconds=60)
    wait_until(lambda: bench.statuses("done") == ["SUCCESS"])
    time.sleep(0.01)
    before = time.time()
    time.sleep(0.01)
    bench.inbox.put("later", event(number, repo_id=77), delay_seconds=60)
    bench.inbox.erase(77, before)
    assert bench.statuses("gone", "replay") == ["CANCELLED", "CANCELLED"]
    assert bench.statuses("later", "similar") == ["DELAYED", "DELAYED"]
    kept = [bench.has_content(one) for one in ("gone", "done", "replay", "later", "similar")]
    assert kept == [False, False, False, True, True]
    assert not bench.inbox.put("gone", event(number, repo_id=77)), "a redelivery stays a no-op"


def test_c6a_a_run_that_fails_while_its_repository_is_erased_is_tried_again_and_keeps_nobody_waiting(
    bench: Bench, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next run came into the queue after all that waited was cancelled, and lost what it was to be given: nobody
    could begin it, and it was given back for ever, with its lane waiting behind it.
    """
    cancel = DBOSClient.cancel_workflows

    def cancel_and_fail(client: DBOSClient, ids: list[str]) -> None:
        cancel(client, ids)
        bench.inbox.put("failed", event(number, repo_id=84), delay_seconds=0.2)

    bench.inbox.put("waits", event(number, repo_id=84), delay_seconds=60)
    monkeypatch.setattr(DBOSClient, "cancel_workflows", cancel_and_fail)
    bench.inbox.erase(84)
    assert bench.statuses("waits") == ["CANCELLED"]
    assert not bench.has_content("waits")
    wait_until(lambda: bench.statuses("failed") == ["SUCCESS"])


def test_c6a_erasing_everything_leaves_out_nothing_that_was_stamped_by_a_clock_that_is_ahead(
    bench: Bench, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of another machine's web process may be, or this one's before it was set back."""
    really = time.time_ns
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time_ns", lambda: really() + 30 * 10**9)
        bench.inbox.put("stamped-ahead", event(number, repo_id=79), delay_seconds=60)
    bench.inbox.erase(79)
    assert bench.statuses("stamped-ahead") == ["CANCELLED"]
    assert not bench.has_content("stamped-ahead")


def test_the_queue_lies_beside_the_store(tmp_path: Path) -> None:
    """The queue lies beside the store, wherever that is."""
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{tmp_path / 'data' / 'store.db'}")
    inbox = Inbox(settings)
    inbox.check()
    inbox.close()
    assert (tmp_path / "data" / "store-queue.db").exists()
    assert not (tmp_path / "home").exists()
