"""G: the budgets of an installation, shared by processes; on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa

from bot.github.limits.answers import Limit
from bot.github.limits.costs import Cost, cost_of
from bot.github.limits.pacing import AHEAD, SHARED, SharedPacer
from bot.github.limits.purse import GOOD_FOR
from bot.store.database.engine import make_engine
from bot.store.parts.budgets import Budgets
from bot.store.tables.schema import spent
from tests.waiting import LONGEST

SEARCH = cost_of("GET", "/search/issues", {})
READ = cost_of("GET", "/repos/a/b", {})
POST = cost_of("POST", "/repos/a/b/issues/1/comments", {})
DELETE = cost_of("DELETE", "/repos/a/b/issues/comments/1", {})


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def engine(store_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(store_url)
    yield engine
    engine.dispose()


def processes(engine: sa.Engine, clock: Clock, account: str = "installation 7") -> tuple[SharedPacer, SharedPacer]:
    """The pacers of two processes that act for one installation."""
    budgets = [Budgets(engine, SHARED, clock) for _ in range(2)]
    first, second = (
        SharedPacer(clock, partial(one.take, account), partial(one.rest, account, AHEAD)) for one in budgets
    )
    return first, second


def test_g_two_processes_search_thirty_times_a_minute_together(engine: sa.Engine) -> None:
    clock = Clock()
    one, other = processes(engine, clock)
    assert [pacer.take(SEARCH) for _ in range(15) for pacer in (one, other)] == [0.0] * 30
    assert [60 <= pacer.take(SEARCH) <= 62 for pacer in (one, other)] == [True, True]
    assert one.take(READ) == other.take(READ) == 0.0
    assert processes(engine, clock, "installation 8")[0].take(SEARCH) == 0.0
    clock.time += 62
    assert one.take(SEARCH) == other.take(SEARCH) == 0.0


def test_g_processes_that_ask_at_the_same_moment_share_too(engine: sa.Engine) -> None:
    budgets = Budgets(engine, SHARED, Clock())
    with ThreadPoolExecutor(6) as pool:
        delays = list(pool.map(lambda _: budgets.take("installation 7", SEARCH.amounts), range(60)))
    assert delays.count(0.0) == 30


_TAKES = """
import sys
from functools import partial
from time import monotonic
from bot.github.limits.costs import Cost, cost_of
from bot.github.limits.pacing import SHARED, SharedPacer
from bot.store.parts.budgets import Budgets
from bot.store.database.engine import make_engine

pacer = SharedPacer(monotonic, partial(Budgets(make_engine(sys.argv[1]), SHARED).take, "installation 7"))
sys.stdin.readline()
print(sum(not pacer.take(cost_of("GET", "/search/issues", {})) for _ in range(25)))
"""


@pytest.mark.processes
def test_g_two_processes_of_the_operating_system_share_a_minute(engine: sa.Engine) -> None:
    """Each of them would take 25 searches, and both together get 30."""
    command = [sys.executable, "-c", _TAKES, engine.url.render_as_string(hide_password=False)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    taken = [int(process.communicate(timeout=LONGEST)[0]) for process in running]
    assert sum(taken) == 30


def test_g_two_processes_write_eighty_times_a_minute_together(engine: sa.Engine) -> None:
    clock = Clock()
    one, other = processes(engine, clock)
    assert sum(pacer.take(POST) == 0.0 for _ in range(60) for pacer in (one, other)) == 80


@pytest.mark.slow
def test_g_two_processes_have_nine_hundred_points_a_minute_together(engine: sa.Engine) -> None:
    clock = Clock()
    one, other = processes(engine, clock)
    # A write costs five. What one process has bought and not used is no other's, and there is little of it.
    used = 0
    for _ in range(600):
        used += sum(
            cost for pacer, cost in ((one, 1), (other, 1), (one, 5)) if pacer.take(DELETE if cost > 1 else READ) == 0
        )
    assert 900 - 150 <= used <= 900
    clock.time += 61 + GOOD_FOR
    assert one.take(READ) == other.take(READ) == 0.0


def test_points_are_paid_ahead_and_not_with_each_request(engine: sa.Engine) -> None:
    clock, paid = Clock(), []
    budgets = Budgets(engine, SHARED, clock)

    def pay(amounts: Mapping[str, int]) -> float:
        paid.append(amounts)
        return budgets.take("installation 7", amounts)

    pacer = SharedPacer(clock, pay)
    assert sum(pacer.take(READ) == 0.0 for _ in range(400)) == 400
    assert len([one for one in paid if "points" in one]) < 20


def test_a_refusal_of_everything_is_heard_by_all_processes(engine: sa.Engine) -> None:
    clock = Clock()
    one, other = processes(engine, clock)
    one.refused(Limit(30.0, "search", told=True))
    assert other.take(READ) == 0.0, "that is one resource alone"
    clock.time += GOOD_FOR
    one.refused(Limit(30.0, None, told=True))
    assert other.take(READ) == pytest.approx(30.0)
    clock.time += 31
    assert one.take(READ) == other.take(READ) == 0.0
    one.refused(Limit(900.0, None, told=False))
    clock.time += GOOD_FOR
    assert other.take(READ) > 100, "it will have to ask again, but not soon"


@pytest.mark.parametrize(("cost", "most"), [(SEARCH, 30), (POST, 80)], ids=["search", "comment"])
@pytest.mark.parametrize("ahead", [1_800, 86_400])
def test_a_clock_that_was_wrong_keeps_nobody_waiting(engine: sa.Engine, cost: Cost, most: int, ahead: int) -> None:
    clock = Clock()
    one, _ = processes(engine, clock)
    clock.time += ahead
    assert sum(one.take(cost) == 0.0 for _ in range(most + 10)) == most
    clock.time -= ahead
    assert processes(engine, clock)[0].take(cost) == 0.0


def test_what_no_longer_counts_goes(engine: sa.Engine) -> None:
    clock = Clock()
    one, _ = processes(engine, clock)
    for _ in range(5):
        assert one.take(SEARCH) == 0.0
        clock.time += 61 + GOOD_FOR
    with engine.connect() as connection:
        rows = connection.execute(sa.select(spent.c.budget)).scalars().all()
    assert sorted(rows) == ["points", "search"]


def test_without_the_database_each_process_keeps_to_the_limits_itself(engine: sa.Engine) -> None:
    clock = Clock()
    with engine.begin() as connection:
        spent.drop(connection)
    one, other = processes(engine, clock)
    for pacer in (one, other):
        assert sum(pacer.take(SEARCH) == 0.0 for _ in range(40)) == 30
