"""G: the budgets of an installation, shared by its threads."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.limits.answers import Limit
from bot.github.limits.costs import Cost, cost_of
from bot.github.limits.pacing import LIMITS, Pacer
from bot.github.limits.windows import Quota, Window

SEARCH = cost_of("GET", "/search/issues", {})
HYBRID = cost_of("GET", "/search/issues", {"search_type": "hybrid"})
READ = cost_of("GET", "/repos/a/b", {})
POST = cost_of("POST", "/repos/a/b/issues/1/comments", {})


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


# Whole numbers, so that no rounding blurs the edges.
@pytest.mark.slow
@given(
    limit=st.integers(1, 8),
    seconds=st.integers(1, 90),
    steps=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8)), max_size=60),
)
def test_no_stretch_of_time_ever_holds_more_than_the_limit(
    limit: int, seconds: int, steps: list[tuple[int, int]]
) -> None:
    window, now = Window(limit, seconds), 0.0
    spent: list[tuple[float, int]] = []

    def in_stretch_to(end: float) -> int:
        return sum(units for at, units in spent if end - seconds < at <= end)

    for pause, wanted in steps:
        now, amount = now + pause, min(wanted, limit)
        delay = window.delay(now, amount)
        assert 0 <= delay <= seconds
        if delay:
            assert in_stretch_to(now + delay - 1) + amount > limit, "the wait is longer than it must be"
        now += delay
        assert window.delay(now, amount) == 0
        window.spend(now, amount)
        spent.append((now, amount))
    assert all(in_stretch_to(end) <= limit for end, _ in spent)


def test_g_thirty_lexical_and_ten_hybrid_searches_a_minute() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    assert [pacer.take(SEARCH) for _ in range(30)] == [0.0] * 30
    assert 60 <= pacer.take(SEARCH) <= 62
    assert [pacer.take(HYBRID) for _ in range(10)] == [0.0] * 10
    assert 60 <= pacer.take(HYBRID) <= 62
    assert pacer.take(READ) == 0.0
    clock.time += 62
    assert pacer.take(SEARCH) == 0.0


def test_g_eighty_writes_a_minute_and_five_hundred_an_hour() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    done, start = 0, clock.time
    while clock.time < start + 3600:
        if delay := pacer.take(POST):
            clock.time += delay
        else:
            done += 1
            if clock.time < start + 60:
                assert done <= 80
    assert done == 500


def test_g_nine_hundred_points_a_minute() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    assert sum(pacer.take(READ) == 0.0 for _ in range(1000)) == 900


def test_a_refused_take_costs_nothing() -> None:
    clock = Clock()
    pacer = Pacer(clock, {"search": ((1, 60.0),), "points": ((2, 60.0),)})
    assert pacer.take(SEARCH) == 0.0
    assert pacer.take(SEARCH) > 0
    assert pacer.take(READ) == 0.0


def test_what_github_says_is_left_counts() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    pacer.learn("search", remaining=2, seconds=40)
    assert [pacer.take(SEARCH) for _ in range(3)] == [0.0, 0.0, 40.0]
    assert pacer.take(READ) == 0.0
    clock.time += 40
    assert pacer.take(SEARCH) == 0.0


def test_answers_that_overtake_one_another_never_raise_what_is_left() -> None:
    quota = Quota()
    quota.learn(5, until=100)
    quota.spend(1)
    quota.learn(8, until=100.9)
    quota.learn(3, until=99)
    assert [quota.delay(50, amount) for amount in (3, 4)] == [0.0, 50.0]
    quota.learn(0, until=40)
    assert quota.delay(50, 3) == 0.0, "an answer from the period before says nothing about this one"
    quota.learn(30, until=160)
    assert quota.delay(50, 30) == 0.0


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([100.0, 101.0, 160.0])), min_size=1, max_size=20))
def test_a_quota_is_never_above_the_lowest_number_of_the_last_period(answers: list[tuple[int, float]]) -> None:
    quota = Quota()
    for remaining, until in answers:
        quota.learn(remaining, until)
    last = max(until for _, until in answers)
    lowest = min(remaining for remaining, until in answers if until >= last - 2)
    assert quota.delay(50, lowest + 1) > 0


def test_a_secondary_limit_stops_everything_and_a_primary_one_its_resource() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    pacer.refused(Limit(30.0, "search", told=True))
    assert (pacer.take(SEARCH), pacer.take(READ)) == (30.0, 0.0)
    pacer.refused(Limit(10.0, None, told=True))
    pacer.refused(Limit(5.0, None, told=True))
    assert (pacer.take(SEARCH), pacer.take(READ)) == (30.0, 10.0)


def test_strikes_grow_with_each_pause_not_with_each_thread_and_end_with_a_success() -> None:
    clock = Clock()
    pacer = Pacer(clock)
    for _ in range(4):
        assert pacer.strikes() == 0
        pacer.refused(Limit(60.0, None, told=False))
    pacer.succeeded()
    clock.time += 61
    assert pacer.strikes() == 1, "what was under way when the pause began does not end it"
    pacer.refused(Limit(120.0, None, told=False))
    clock.time += 121
    assert pacer.strikes() == 2
    pacer.succeeded()
    assert pacer.strikes() == 0


def test_threads_share_a_budget() -> None:
    pacer = Pacer(lambda: 0.0, {"search": ((40, 5.0),)})
    taken: list[float] = []

    def work() -> None:
        for _ in range(20):
            if pacer.take(Cost("search", {"search": 1})) == 0:
                taken.append(1.0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 40


def test_the_limits_are_those_of_the_specification() -> None:
    assert {name: [units for units, _ in group] for name, group in LIMITS.items()} == {
        "search": [30],
        "semantic_search": [10],
        "content": [80, 500],
        "points": [900],
        "graphql_points": [2000],
    }
