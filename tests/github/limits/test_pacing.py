"""G: the budgets of an installation, shared by its threads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.limits import Cost, RateLimit, RateLimiter, cost_of, is_repeatable

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
@given(st.integers(1, 8), st.integers(1, 90), st.lists(st.integers(0, 40), max_size=60))
def test_no_stretch_of_time_ever_holds_more_than_the_limit(limit: int, seconds: int, pauses: list[int]) -> None:
    clock, sent = Clock(), list[float]()
    pacer = RateLimiter(clock, {"search": ((limit, seconds),)})

    def in_stretch_to(end: float) -> int:
        return sum(end - seconds < at <= end for at in sent)

    for pause in pauses:
        clock.time += pause
        if delay := pacer.take(SEARCH):
            assert in_stretch_to(clock.time + delay - 1) == limit, "the wait is longer than it must be"
            clock.time += delay
            assert not pacer.take(SEARCH)
        sent.append(clock.time)
    assert all(in_stretch_to(end) <= limit for end in sent)


def test_g_thirty_lexical_and_ten_hybrid_searches_a_minute() -> None:
    clock = Clock()
    pacer = RateLimiter(clock)
    assert [pacer.take(SEARCH) for _ in range(30)] == [0.0] * 30
    assert 60 <= pacer.take(SEARCH) <= 62
    assert [pacer.take(HYBRID) for _ in range(10)] == [0.0] * 10
    assert 60 <= pacer.take(HYBRID) <= 62
    assert pacer.take(READ) == 0.0
    clock.time += 62
    assert pacer.take(SEARCH) == 0.0


def test_g_eighty_writes_a_minute_and_five_hundred_an_hour() -> None:
    clock = Clock()
    pacer = RateLimiter(clock)
    done, start = 0, clock.time
    while clock.time < start + 3600:
        if delay := pacer.take(POST):
            clock.time += delay
        else:
            done += 1
            if clock.time < start + 60:
                assert done <= 80
    assert done == 500


def test_strikes_grow_with_each_pause_not_with_each_thread_and_end_with_a_success() -> None:
    clock = Clock()
    pacer = RateLimiter(clock)
    for _ in range(4):
        assert pacer.strikes() == 0
        pacer.refused(RateLimit(60.0, None, stated=False))
    pacer.succeeded()
    clock.time += 61
    assert pacer.strikes() == 1, "what was under way when the pause began does not end it"
    pacer.refused(RateLimit(120.0, None, stated=False))
    clock.time += 121
    assert pacer.strikes() == 2
    pacer.refused(RateLimit(30.0, None, stated=True))
    assert pacer.strikes() == 2, "the present pause is none of these two"
    clock.time += 31
    pacer.succeeded()
    assert pacer.strikes() == 0


@pytest.mark.parametrize(
    ("method", "path", "query", "cost"),
    [
        ("GET", "/repos/a/b/issues/1", {}, Cost("core")),
        ("GET", "/search/issues", {"q": "x"}, Cost("search")),
        ("GET", "/search/issues", {"search_type": "hybrid"}, Cost("semantic_search")),
        ("POST", "/graphql", {}, Cost("graphql")),
        ("POST", "/api/graphql", {}, Cost("graphql")),
        ("POST", "/repos/a/b/issues/1/comments", {}, Cost("core", content=True)),
        ("PATCH", "/repos/a/b/issues/1", {}, Cost("core", content=True)),
        ("DELETE", "/repos/a/b/issues/comments/1", {}, Cost("core")),
        ("POST", "/app/installations/1/access_tokens", {}, Cost("app")),
        ("POST", "/app/hook/deliveries/1/attempts", {}, Cost("core")),
        # A repository may be called as it likes.
        ("GET", "/repos/search/issues", {}, Cost("core")),
        ("GET", "/repos/a/graphql", {}, Cost("core")),
    ],
)
def test_g_costs(method: str, path: str, query: dict[str, str], cost: Cost) -> None:
    assert cost_of(method, path, query) == cost


@pytest.mark.parametrize(
    ("method", "path", "repeatable"),
    [
        ("GET", "/repos/a/b", True),
        ("PATCH", "/repos/a/b/issues/comments/1", True),
        ("DELETE", "/repos/a/b/issues/1/labels/x", True),
        ("POST", "/graphql", True),
        ("POST", "/api/graphql", True),
        ("POST", "/app/installations/12/access_tokens", True),
        ("POST", "/repos/a/b/issues/1/labels", True),
        ("POST", "/repos/a/b/issues/comments/1/reactions", True),
        ("POST", "/repos/a/b/issues/1/comments", False),
        ("POST", "/repos/a/labels/issues/1/comments", False),
        ("POST", "/app/hook/deliveries/3/attempts", False),
    ],
)
def test_only_what_does_no_harm_twice_is_repeatable(method: str, path: str, repeatable: bool) -> None:
    assert is_repeatable(method, path) is repeatable
