"""What is told of the queue: deliveries that wait and that can be tried again, and nothing that nobody can act on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import IssueEvent, RepositorySummary
from bot.jobs import Chore, DeadLetters, Inbox
from bot.jobs.chores import call_for
from bot.jobs.database import QUEUE, queue_client, queue_engine, workflow_table
from bot.jobs.standing import standing
from bot.model import Actor, RepoRef
from bot.settings import Settings


def event(repo_id: int) -> IssueEvent:
    repository = RepositorySummary(repo_id, RepoRef("acme", "app"), private=False)
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
