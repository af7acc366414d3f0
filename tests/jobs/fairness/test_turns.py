"""Turns: in one lane the repositories' jobs alternate, and each repository's stay in order."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from bot.events import IssueEvent
from bot.jobs import Inbox
from bot.jobs.fairness.lanes import LANES
from bot.jobs.fairness.turns import AHEAD, Turns, Waiting, deal
from bot.jobs.queue.database import queue_engine, workflow_table
from bot.jobs.queue.enqueue import LATER
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings

ANN = Actor("ann")


def taken(waiting: list[Waiting]) -> list[Waiting]:
    """The order in which DBOS takes them: sorting is stable."""
    return sorted(waiting, key=lambda one: one.priority)


def dealt(waiting: list[Waiting]) -> list[Waiting]:
    changed = deal(waiting)
    return [one._replace(priority=changed.get(one.run, one.priority)) for one in waiting]


lanes = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, 3, AHEAD, LATER])), max_size=60).map(
    lambda rows: [Waiting(str(n), repository, priority) for n, (repository, priority) in enumerate(rows)]
)


@given(lanes)
def test_every_repository_comes_before_any_comes_again(waiting: list[Waiting]) -> None:
    order = taken(dealt(waiting))
    repositories = {one.repository for one in waiting}
    if len(repositories) < 2:
        assert order == taken(waiting), "whoever is alone is left as it is"
        return
    for repository in repositories:
        mine = [int(one.run) for one in order if one.repository == repository]
        assert mine == sorted(mine), "in order of arrival"
    seen: Counter[str] = Counter()
    total = Counter(one.repository for one in waiting)
    for one in order:
        turn = seen[one.repository]
        if turn < AHEAD:
            assert all(seen[other] >= min(turn, total[other]) for other in repositories), "nobody is two turns ahead"
        seen[one.repository] += 1


@given(lanes, st.integers(0, 10), st.lists(st.sampled_from("abc"), max_size=10))
def test_what_arrives_later_overtakes_nothing_of_its_repository(
    waiting: list[Waiting], gone: int, new: list[str]
) -> None:
    left = taken(dealt(waiting))[gone:]
    left.sort(key=lambda one: int(one.run))
    arrived = [*left, *(Waiting(str(1000 + n), repository, LATER) for n, repository in enumerate(new))]
    alone = len({one.repository for one in waiting}) < 2
    for order in (taken(arrived), taken(dealt(arrived))):
        for repository in "abc" if not alone else "":
            mine = [int(one.run) for one in order if one.repository == repository]
            assert mine == sorted(mine)
    assert deal(dealt(arrived)) == {}, "a second deal changes nothing"


def test_one_event_among_hundreds_of_a_sibling_is_next_in_its_lane(database_url: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=database_url)
    inbox, engine = Inbox(settings), queue_engine(settings)
    ids = itertools.count()

    def put(repo_id: int, number: int, installation: int = 1) -> str:
        summary = Repository(repo_id, RepoRef("acme", f"app{repo_id}"), private=False)
        delivery = f"d{next(ids):03}"
        assert inbox.put(delivery, IssueEvent("opened", installation, summary, number, ANN, ANN))
        return delivery

    turns = Turns(engine)
    noisy = [put(10_000, LANES * n) for n in range(1, 13)]
    other = put(7, LANES, installation=2)
    assert turns.deal() == 0
    quiet = put(9_000, LANES * 3)
    assert turns.deal() == AHEAD + 1
    assert turns.deal() == 0
    table = workflow_table(engine)
    query = sa.select(table.c.workflow_uuid).order_by(table.c.priority, table.c.created_at, table.c.workflow_uuid)
    with engine.connect() as connection:
        order = [run for run in connection.execute(query).scalars() if run != other]
    assert order == [noisy[0], quiet, *noisy[1:]]
    inbox.close()
    engine.dispose()
