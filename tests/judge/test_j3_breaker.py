"""J3: how long an endpoint that failed is left alone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from bot.search.judge.judge import Breaker
from bot.search.judge.prompt import Completion, EndpointError, Prompt
from tests.waiting import wait_until


class Answers:
    """An endpoint that fails so many times, and then answers."""

    model = "reader-1"

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def ask(self, question: Prompt, seconds: float) -> Completion:
        self.failures -= 1
        if self.failures >= 0:
            raise EndpointError("busy")
        return Completion("{}", 0, 0, self.model)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept = list[float]()
    monkeypatch.setattr("bot.search.judge.judge.time", SimpleNamespace(sleep=slept.append))
    return slept


def closed(breaker: Breaker) -> Callable[[], bool]:
    return lambda: not breaker.is_open


def test_j3_only_an_issues_own_question_shortens_the_pause_again(pauses: list[float]) -> None:
    """A slow model may answer the probe's few lines in time, and never an issue's question."""
    breaker = Breaker(Answers(failures=2), 5.0, pause=30.0)
    for _ in range(2):
        breaker.trip(None)
        wait_until(closed(breaker))
    assert pauses == [30, 60, 120, 240]
    breaker.reset()
    breaker.trip(None)
    wait_until(closed(breaker))
    assert pauses[4:] == [30]


def test_j3_no_probe_comes_before_the_endpoint_asks_for_it(pauses: list[float]) -> None:
    breaker = Breaker(Answers(failures=0), 5.0, pause=30.0)
    breaker.trip(90.0)
    wait_until(closed(breaker))
    assert pauses == [90]
