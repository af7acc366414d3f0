"""What is told of the queue: deliveries that wait and that can be tried again, and nothing that nobody can act on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import IssueEvent, to_json
from bot.jobs import Chore, DeadLetters, Inbox
from bot.jobs.fairness.lanes import lane_of
from bot.jobs.inspection.standing import standing
from bot.jobs.queue.chores import call_for
from bot.jobs.queue.database import QUEUE, queue_client, queue_engine, workflow_table
from bot.jobs.queue.enqueue import enqueue
from bot.jobs.queue.job import Message
from bot.model import Actor, RepoRef, Repository
from bot.monitoring.exposition import of_queue
from bot.settings import Settings


def event(repo_id: int) -> IssueEvent:
    repository = Repository(repo_id, RepoRef("acme", "app"), private=False)
    return IssueEvent("opened", 1, repository, 7, Actor("ann"), Actor("ann"))


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=database_url)


@pytest.fixture
def inbox(settings: Settings) -> Iterator[Inbox]:
    inbox = Inbox(settings)
    inbox.check()
    yield inbox
    inbox.close()


@pytest.fixture
def engine(settings: Settings) -> Iterator[sa.Engine]:
    engine = queue_engine(settings)
    yield engine
    engine.dispose()


def test_a_turn_that_waits_for_the_one_before_is_no_delivery_that_waits(inbox: Inbox, engine: sa.Engine) -> None:
    """Of a large host a look at every repository can last longer than the time between two."""
    client, workflows = queue_client(engine), workflow_table(engine)
    for turn in (1, 2):
        call_for(client, engine, Chore("look again", 1800.0, lambda: None), turn)
    with engine.begin() as connection:
        connection.execute(sa.update(workflows).values(created_at=int((time.time() - 3600) * 1000)))
    inbox.put("d", event(5))
    now = standing(engine)
    assert now.jobs[QUEUE, "waiting"] == 1
    assert now.oldest[QUEUE] < 600


def test_what_waits_for_another_try_is_counted_since_it_arrived_and_an_edit_that_waits_for_the_next_is_not(
    inbox: Inbox, engine: sa.Engine
) -> None:
    """GitHub was away for most of a day, nothing was done, and no alarm that the manual names went off."""
    inbox.put("edit", event(5), delay_seconds=300.0)
    now = standing(engine)
    assert (now.jobs[QUEUE, "delayed"], now.again[QUEUE], now.longest(QUEUE)) == (1, 0, 0.0)
    arrived = time.time_ns() // 1_000_000 - 3_600_000
    message = Message("d", 1, 0, arrived, event(5).partition, to_json(event(5)), lane_of(event(5)))
    enqueue(queue_client(engine), engine, message.again(1), 6 * 3600.0)
    now = standing(engine)
    assert (now.jobs[QUEUE, "delayed"], now.again[QUEUE]) == (2, 1)
    assert now.oldest[QUEUE] == 0.0
    assert now.longest(QUEUE) == pytest.approx(3600, abs=60)
    (told,) = (one for one in of_queue(now) if one.name == "doppel_queue_oldest_seconds")
    assert [one.value for one in told.samples if one.labels["queue"] == QUEUE] == [now.longest(QUEUE)]


def test_c6a_what_was_given_up_and_erased_is_no_dead_letter(
    inbox: Inbox, engine: sa.Engine, settings: Settings
) -> None:
    """`doppel jobs` does not list it and nobody can try it again, so that an alert would last for a month."""
    for delivery_id, repo_id in (("lost", 5), ("kept", 6)):
        inbox.put(delivery_id, event(repo_id))
    given_up = {"status": "ERROR", "completed_at": int(time.time() * 1000)}
    with engine.begin() as connection:
        connection.execute(sa.update(workflow_table(engine)).values(given_up))
    assert standing(engine).dead == 2
    inbox.erase(5)
    letters = DeadLetters(settings)
    assert [one.delivery_id for one in letters.list()] == ["kept"]
    letters.close()
    assert standing(engine).dead == 1
