"""What the worker does with what it is given: in order, again after a failure, once whatever comes twice."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import pytest

from bot.deliveries.queue import HOLD
from bot.deliveries.worker import Job
from bot.domain.entities import RepoRef
from bot.domain.errors import InvalidArgument, RateLimited, Unavailable
from bot.platform.lease import check_lease
from bot.platform.metrics import REGISTRY
from tests.jobs.conftest import Bench, Held, change, event, replay, row
from tests.waiting import LONGEST as AT_LAST
from tests.waiting import stays, wait_until

pytestmark = pytest.mark.slow


def fail(job: Job) -> None:
    raise ValueError("private text of the issue")


Counted = Callable[[str], float]


@pytest.fixture
def counted() -> Counted:
    """How many runs were counted with an outcome since the beginning of the test, or just before."""

    def total(outcome: str) -> float:
        return REGISTRY.get_sample_value("doppel_jobs_total", {"outcome": outcome}) or 0.0

    before = {outcome: total(outcome) for outcome in ("done", "refused", "failed", "dead", "overtaken")}
    return lambda outcome: total(outcome) - before[outcome]


def test_a_redelivery_is_a_no_op_before_and_after_it_was_handled(bench: Bench, number: int, counted: Counted) -> None:
    assert bench.inbox.put("again", event(number))
    assert not bench.inbox.put("again", event(number))
    wait_until(lambda: bench.states("again") == ["done"])
    assert not bench.inbox.put("again", event(number, "closed"))
    bench.inbox.put("marker", event(number))
    wait_until(lambda: bench.states("marker") == ["done"])
    assert len(bench.calls("again")) == 1
    wait_until(lambda: counted("done") >= 2)


def test_retryable_waits_as_told_and_keeps_the_order_of_its_issue(bench: Bench, number: int, counted: Counted) -> None:
    def limited_once(job: Job) -> None:
        if job.attempt == 1:
            raise RateLimited("search is used up", after=60)

    bench.reactions["limited"] = limited_once
    bench.inbox.put("limited", event(number))
    wait_until(lambda: row(bench.engine, "limited").attempts == 1)
    assert 0 < bench.waits("limited") <= 66
    assert "RateLimited" in row(bench.engine, "limited").last_error
    bench.inbox.put("behind", event(number))
    bench.inbox.put("beside", event(-number))
    wait_until(lambda: bench.states("beside") == ["done"])
    assert bench.states("limited", "behind") == ["waiting", "waiting"]
    bench.due("limited")
    wait_until(lambda: bench.states("limited", "behind") == ["done", "done"])
    calls = bench.calls("limited", "behind", "beside")
    assert calls == [("limited", 1), ("beside", 1), ("limited", 2), ("behind", 1)]
    assert counted("failed") >= 1
    assert not bench.dead_letters.list()


def test_what_waits_for_longer_is_overtaken(bench: Bench, number: int) -> None:
    """A command that somebody gives during an outage should not wait for hours."""
    bench.inbox.put("hours", event(number), delay_seconds=HOLD + 60)
    bench.inbox.put("now", event(number))
    wait_until(lambda: bench.states("hours", "now") == ["waiting", "done"])
    bench.inbox.erase(5)


def test_an_edit_that_waits_for_the_next_holds_what_comes_after_it(bench: Bench, number: int) -> None:
    bench.inbox.put("edit", event(number, "edited"), delay_seconds=60)
    bench.inbox.put("label", event(number, "labeled"))
    bench.inbox.put("elsewhere", event(-number))
    wait_until(lambda: bench.states("elsewhere") == ["done"])
    assert bench.states("edit", "label") == ["waiting", "waiting"]
    assert 0 < bench.waits("edit") <= 60
    bench.due("edit")
    wait_until(lambda: bench.calls("edit", "label") == [("edit", 1), ("label", 1)])


def test_a_poisonous_job_ends_as_a_dead_letter_that_can_be_retried(
    bench: Bench, number: int, caplog: pytest.LogCaptureFixture, counted: Counted
) -> None:
    bench.reactions["poison"], before = fail, time.time() - 0.1
    bench.inbox.put("poison", event(number))
    bench.inbox.put("next", event(number))
    with caplog.at_level(logging.INFO):
        wait_until(lambda: bench.dead_letters.list() and bench.states("next") == ["done"])
    assert [attempt for _, attempt in bench.calls("poison")] == [1, 2, 3]
    (letter,) = bench.dead_letters.list()
    assert bench.dead_letters.of(5) == (letter,) and bench.dead_letters.of(6) == ()
    assert (letter.delivery_id, letter.attempts, letter.event) == ("poison", 3, "issues.opened")
    assert letter.repository == RepoRef("acme", "app")
    assert before <= letter.failed_at <= time.time() + 0.1
    assert "ValueError" in letter.reason
    assert "delivery poison given up after 3 attempts" in caplog.text
    assert "private text" not in caplog.text + letter.reason
    wait_until(lambda: counted("failed") >= 2 and counted("dead") >= 1)

    del bench.reactions["poison"]
    assert bench.dead_letters.retry("poison")
    assert bench.dead_letters.list() == []
    wait_until(lambda: bench.states("poison") == ["done"])
    assert bench.calls("poison")[-1] == ("poison", 1), "a retried letter has all its attempts again"
    assert not bench.dead_letters.retry("poison"), "once retried it is no dead letter"
    assert not bench.dead_letters.retry("unknown")


def test_a_user_error_ends_the_job(bench: Bench, number: int, counted: Counted) -> None:
    def refuse(job: Job) -> None:
        raise InvalidArgument("limit", "must be at least 1")

    bench.reactions["refused"] = refuse
    bench.inbox.put("refused", event(number))
    wait_until(lambda: bench.states("refused") == ["done"] and counted("refused") >= 1)
    assert bench.calls("refused") == [("refused", 1)]
    assert not bench.dead_letters.list()


def test_a_dead_letter_that_this_version_cannot_read_is_listed_all_the_same(bench: Bench, number: int) -> None:
    bench.inbox.put("foreign", event(number), delay_seconds=60)
    bench.due("foreign", payload='{"kind": "riddle"}')
    wait_until(bench.dead_letters.list)
    (letter,) = bench.dead_letters.list()
    assert (letter.delivery_id, letter.event, letter.repository) == ("foreign", "unknown", None)
    assert "KeyError" in letter.reason
    bench.inbox.erase(5)


def test_text_that_no_database_can_store_is_mended(bench: Bench, number: int) -> None:
    assert bench.inbox.put("odd", event(number, "labeled", label="\ud83d \0 🦆"))
    wait_until(lambda: bench.states("odd") == ["done"])


def test_c6a_what_runs_while_its_repository_is_erased_is_not_tried_again(bench: Bench, number: int) -> None:
    held = Held()

    def fail_at_last(job: Job) -> None:
        held(job)
        fail(job)

    bench.reactions["running"] = fail_at_last
    bench.inbox.put("running", event(number, repo_id=78))
    wait_until(lambda: held.at_work == 1)
    bench.inbox.erase(78)
    assert row(bench.engine, "running").payload == ""
    held.go.set()
    wait_until(lambda: bench.states("running") == ["done"])
    assert bench.calls("running") == [("running", 1)]


def test_c6a_erasing_a_repository_takes_what_waits_and_its_dead_letters(bench: Bench, number: int) -> None:
    for delivery, repo_id in (("lost", 77), ("lost-too", 770)):
        bench.reactions[delivery] = fail
        bench.inbox.put(delivery, event(number, repo_id=repo_id))
    for delivery, what in (("gone", event(number, repo_id=77)), ("replay", replay(77))):
        bench.inbox.put(delivery, what, delay_seconds=600)
    bench.inbox.put("similar", event(number, repo_id=770), delay_seconds=600)
    wait_until(lambda: len(bench.dead_letters.list()) == 2)
    before = row(bench.engine, "similar").arrived_at
    bench.inbox.put("later", event(number, repo_id=77), delay_seconds=600)
    change(bench.engine, "later", arrived_at=before + 1)
    bench.inbox.erase(77, before + 0.5)
    assert bench.states("lost", "gone", "replay") == ["done"] * 3
    assert bench.states("later", "similar") == ["waiting"] * 2
    kept = [row(bench.engine, one).payload != "" for one in ("lost", "gone", "replay", "later", "similar")]
    assert kept == [False, False, False, True, True]
    assert not bench.inbox.put("gone", event(number, repo_id=77)), "a redelivery stays a no-op"
    assert not bench.dead_letters.retry("lost"), "there is nothing left to be retried"
    del bench.reactions["lost-too"]
    assert bench.dead_letters.retry("lost-too")
    wait_until(lambda: bench.states("lost-too") == ["done"])
    for repo_id in (77, 770):
        bench.inbox.erase(repo_id)
    assert bench.states("later", "similar") == ["done", "done"]


def test_what_is_lost_and_fails_afterwards_is_tried_again_by_its_new_owner_alone(
    bench: Bench, number: int, counted: Counted
) -> None:
    """Connections are cut while a machine stands still, so that the run which has lost its job fails as a rule."""
    goes_on = threading.Event()

    def fail_when_it_goes_on(job: Job) -> None:
        if len(bench.calls("lost-and-failed")) == 1:
            goes_on.wait(AT_LAST)
            raise Unavailable("the connection was cut")

    bench.reactions["lost-and-failed"] = fail_when_it_goes_on
    bench.inbox.put("lost-and-failed", event(number))
    bench.inbox.put("behind-it", event(number))
    wait_until(lambda: bench.calls("lost-and-failed"))
    bench.expire("lost-and-failed")
    wait_until(lambda: bench.states("behind-it") == ["done"])
    goes_on.set()
    wait_until(lambda: counted("overtaken") >= 1)
    assert bench.calls("lost-and-failed", "behind-it") == [
        ("lost-and-failed", 1), ("lost-and-failed", 1), ("behind-it", 1)
    ]  # fmt: skip
    assert bench.states("lost-and-failed") == ["done"]


def test_what_another_has_taken_over_writes_nothing_more(bench: Bench, number: int, counted: Counted) -> None:
    """This machine stood still in the middle of it; two would comment."""
    written, goes_on = list[str](), threading.Event()

    def write_twice(job: Job) -> None:
        first = len(bench.calls("overtaken")) == 1
        check_lease()
        written.append("first" if first else "second")
        if first:
            goes_on.wait(AT_LAST)
            check_lease()
            written.append("lost")

    bench.reactions["overtaken"] = write_twice
    bench.inbox.put("overtaken", event(number))
    wait_until(lambda: written)
    bench.expire("overtaken")
    wait_until(lambda: bench.states("overtaken") == ["done"])
    goes_on.set()
    wait_until(lambda: counted("overtaken") >= 1)
    assert written == ["first", "second"]


def test_a_job_whose_end_cannot_be_written_stays_with_its_worker_until_it_can(
    bench: Bench, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is away when the handler returns: the job must not be done again for want of its end."""
    monkeypatch.setattr("bot.deliveries.worker.RETRY_AFTER", 0.05)
    refuse = (
        "CREATE TRIGGER refusing BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.id = 'unwritten' AND NEW.state = 'done')"
    )
    with bench.engine.begin() as connection:
        if bench.engine.dialect.name == "sqlite":
            connection.exec_driver_sql(f"{refuse} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
        else:
            connection.exec_driver_sql(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'permission denied' USING ERRCODE = '42501'; END $$"
            )
            connection.exec_driver_sql(f"{refuse} EXECUTE FUNCTION refuse()")
    bench.inbox.put("unwritten", event(number))
    bench.inbox.put("behind-that", event(number))
    wait_until(lambda: bench.calls("unwritten"))
    stays(lambda: bench.states("unwritten", "behind-that") == ["running", "waiting"])
    with bench.engine.begin() as connection:
        on = "" if bench.engine.dialect.name == "sqlite" else " ON jobs"
        connection.exec_driver_sql(f"DROP TRIGGER refusing{on}")
    wait_until(lambda: bench.states("unwritten", "behind-that") == ["done", "done"])
    assert bench.calls("unwritten", "behind-that") == [("unwritten", 1), ("behind-that", 1)]
