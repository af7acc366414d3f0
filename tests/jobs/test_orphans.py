"""Which jobs go back into the queue because the worker that has taken them does not do them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import PushEvent, RepositorySummary
from bot.jobs import Inbox
from bot.jobs.database import queue_client, queue_engine, workflow_table
from bot.jobs.orphans import Orphans
from bot.model import Actor, RepoRef
from bot.settings import Settings

PUSH = PushEvent(1, RepositorySummary(5, RepoRef("acme", "app"), False), Actor("ann"), settings=True, templates=False)


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Iterator[sa.Engine]:
    settings = Settings(home=tmp_path, database_url=store_url)
    inbox, engine = Inbox(settings), queue_engine(settings)
    for name in ("mine", "another's"):
        inbox.put(name, PUSH)
    inbox.close()
    take(engine, "mine", "me", "first claim")
    take(engine, "another's", "another", "first claim")
    yield engine
    engine.dispose()


def take(engine: sa.Engine, name: str, executor: str, claim: str) -> None:
    workflows = workflow_table(engine)
    taken = sa.update(workflows).where(workflows.c.workflow_uuid == name)
    with engine.begin() as connection:
        connection.execute(taken.values(status="PENDING", executor_id=executor, owner_xid=claim))


def waiting(engine: sa.Engine) -> list[str]:
    workflows = workflow_table(engine)
    query = sa.select(workflows.c.workflow_uuid).where(workflows.c.status == "ENQUEUED")
    with engine.connect() as connection:
        return list(connection.execute(query).scalars())


def orphans(engine: sa.Engine) -> Orphans:
    return Orphans(engine, queue_client(engine), "me")


def test_what_nobody_does_at_two_looks_goes_back(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert (mine.give_back(list), waiting(engine)) == (0, []), "it was taken a moment ago, perhaps"
    assert (mine.give_back(list), waiting(engine)) == (1, ["mine"]), "another worker's is its own affair"
    assert mine.give_back(list) == 0


def test_what_runs_stays(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert [mine.give_back(lambda: ["mine"]) for _ in range(3)] == [0, 0, 0]
    # It ends just now.
    assert mine.give_back(list) == 0
    assert waiting(engine) == []


def test_what_was_taken_anew_meanwhile_stays(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert mine.give_back(list) == 0
    take(engine, "mine", "me", "second claim")
    assert mine.give_back(list) == 0
    assert mine.give_back(list) == 1
