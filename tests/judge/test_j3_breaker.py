"""J3: how long an endpoint that failed is left alone."""

from __future__ import annotations

from bot.search.judge.judge import LONGEST, PAUSE, Breaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pause(breaker: Breaker, clock: Clock, after: float | None = None) -> float:
    """The seconds for which the breaker stays open after a failure."""
    breaker.trip(after)
    began = clock.now
    while breaker.is_open:
        clock.now += 1.0
    return clock.now - began


def test_j3_each_failure_doubles_the_pause_until_the_endpoint_answers() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    assert not breaker.is_open
    assert [pause(breaker, clock) for _ in range(6)] == [PAUSE, 60, 120, 240, 480, LONGEST]
    breaker.reset()
    assert pause(breaker, clock) == PAUSE


def test_j3_questions_that_fail_together_are_one_failure() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    breaker.trip(None)
    assert pause(breaker, clock) == PAUSE


def test_j3_nobody_asks_before_the_endpoint_wants_it() -> None:
    clock = Clock()
    assert pause(Breaker(clock=clock), clock, 90.0) == 90
