"""What `doppel_jobs_total` says of runs that end otherwise than by their handler's return."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import IssueEvent, to_json
from bot.jobs import Inbox, Worker
from bot.jobs.fairness.lanes import lane_of
from bot.jobs.queue.database import queue_engine, trials
from bot.jobs.queue.job import Message
from bot.jobs.recovery import overdue
from bot.jobs.recovery.claims import Lost
from bot.jobs.recovery.trials import MOST_DEATHS
from bot.jobs.running.given_up import GivenUp
from bot.jobs.running.retry import MOST_TRIES_OF_A_FAULT
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings
from bot.telemetry.metrics import REGISTRY

EVENT = IssueEvent("opened", 1, Repository(5, RepoRef("acme", "app"), private=False), 7, Actor("a"), Actor("a"))


def message(delivery_id: str, failures: int = 0) -> Message:
    return Message(delivery_id, 1, failures, 0, EVENT.partition, to_json(EVENT), lane_of(EVENT))


@pytest.fixture
def counted() -> Callable[[str], float]:
    """How many runs were counted with an outcome since the beginning of the test."""

    def total(outcome: str) -> float:
        return REGISTRY.get_sample_value("doppel_jobs_total", {"outcome": outcome}) or 0.0

    before = {outcome: total(outcome) for outcome in ("failed", "dead", "overtaken")}
    return lambda outcome: total(outcome) - before[outcome]


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}")
    inbox = Inbox(settings)
    inbox.put("hangs", EVENT)
    yield settings
    inbox.close()


@pytest.fixture
def worker(settings: Settings) -> Worker:
    """One that takes nothing by itself: DBOS is not started."""
    return Worker(settings, lambda job: None)


def test_what_does_not_end_counts_as_failed_and_in_the_end_as_dead(
    worker: Worker, settings: Settings, counted: Callable[[str], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overdue, "LONGEST", -1.0)
    with worker._runs._at_work.job(message("hangs")):
        worker._runs.give_up_overdue(lambda: None)
    assert (counted("failed"), counted("dead")) == (1, 0)
    with worker._runs._at_work.job(message("hangs", MOST_TRIES_OF_A_FAULT - 1)):
        worker._runs.give_up_overdue(lambda: None)
    assert (counted("failed"), counted("dead")) == (1, 1)


def test_what_took_its_worker_down_too_often_counts_as_dead(
    worker: Worker, settings: Settings, counted: Callable[[str], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker._runs._claims, "times", lambda run: MOST_DEATHS + 1)
    engine = queue_engine(settings)
    with engine.begin() as connection:
        connection.execute(sa.insert(trials).values(workflow_id="hangs", begun=MOST_DEATHS))
    engine.dispose()
    with pytest.raises(GivenUp):
        worker._runs.deliver(message("hangs"))
    assert counted("dead") == 1


def test_what_another_has_taken_over_before_it_was_begun_counts_as_overtaken(
    worker: Worker, counted: Callable[[str], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker._runs._claims, "times", lambda run: None)
    with pytest.raises(Lost):
        worker._runs.deliver(message("hangs"))
    assert counted("overtaken") == 1
