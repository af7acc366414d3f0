"""Which jobs go back into the queue because the worker that has taken them does not do them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import PushEvent
from bot.jobs import Inbox
from bot.jobs.queue.database import give_back, queue_engine, workflow_table
from bot.jobs.recovery.orphans import Orphans
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings

PUSH = PushEvent(1, Repository(5, RepoRef("acme", "app"), False), Actor("ann"), settings=True, templates=False)


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
    return Orphans(engine, "me")


def none() -> int:
    """Nothing waits for a thread."""
    return 0


def test_what_nobody_does_at_two_looks_goes_back(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert (mine.give_back(list, none), waiting(engine)) == (0, []), "it was taken a moment ago, perhaps"
    assert (mine.give_back(list, none), waiting(engine)) == (1, ["mine"]), "another worker's is its own affair"
    assert mine.give_back(list, none) == 0


def test_what_runs_stays(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert [mine.give_back(lambda: ["mine"], none) for _ in range(3)] == [0, 0, 0]
    # It ends just now.
    assert mine.give_back(list, none) == 0
    assert waiting(engine) == []


def test_what_was_taken_anew_meanwhile_stays(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert mine.give_back(list, none) == 0
    take(engine, "mine", "me", "second claim")
    assert mine.give_back(list, none) == 0
    assert mine.give_back(list, none) == 1


def test_what_waits_for_a_thread_stays_and_is_looked_at_twice_afterwards(engine: sa.Engine) -> None:
    mine = orphans(engine)
    assert mine.give_back(list, none) == 0
    assert [mine.give_back(list, lambda: 1) for _ in range(3)] == [0, 0, 0]
    assert mine.give_back(list, none) == 0
    assert mine.give_back(list, none) == 1


def test_only_the_claim_that_was_seen_is_given_back(engine: sa.Engine) -> None:
    take(engine, "mine", "me", "second claim")
    assert not give_back(engine, "mine", "me", "first claim")
    assert not give_back(engine, "mine", "another", "second claim")
    assert waiting(engine) == []
    assert give_back(engine, "mine", "me", "second claim")
    assert waiting(engine) == ["mine"]
