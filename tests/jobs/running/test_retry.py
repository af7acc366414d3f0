"""What becomes of a job that raised."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Forbidden, InvalidArgument, RateLimited, Retryable, Unavailable
from bot.jobs.running.retry import MOST_TRIES, MOST_TRIES_OF_A_FAULT, Again, Dead, Refused, decide, describe, stack

chances = st.floats(0, 1, exclude_max=True)


def waits(error: Exception, tries: int, chance: float = 0.0) -> list[float]:
    decisions = [decide(error, failures, chance) for failures in range(1, tries)]
    return [decision.wait for decision in decisions if isinstance(decision, Again)]


def test_waits_grow_and_add_up_to_most_of_a_day() -> None:
    spans = waits(Unavailable("down"), MOST_TRIES)
    assert len(spans) == MOST_TRIES - 1
    assert spans == sorted(spans)
    assert spans[0] == 10
    assert 18 * 3600 < sum(spans) < 24 * 3600
    assert decide(Unavailable("down"), MOST_TRIES, 0.0) == Dead()


@given(after=st.floats(0, 1e6), failures=st.integers(1, MOST_TRIES - 1), chance=chances)
def test_g_retry_after_is_a_minimum(after: float, failures: int, chance: float) -> None:
    decision = decide(RateLimited("limit", after), failures, chance)
    assert isinstance(decision, Again)
    assert decision.wait >= after
    assert decision.wait >= waits(Retryable("x"), failures + 1)[-1]


@given(chance=chances)
def test_chance_spreads_the_waits_by_a_tenth(chance: float) -> None:
    assert waits(Unavailable("x"), 2)[0] <= waits(Unavailable("x"), 2, chance)[0] <= 1.1 * waits(Unavailable("x"), 2)[0]


def test_a_fault_is_tried_three_times() -> None:
    assert len(waits(ValueError(), 9)) == MOST_TRIES_OF_A_FAULT - 1
    assert decide(ValueError(), MOST_TRIES_OF_A_FAULT, 0.0) == Dead()
    assert isinstance(decide(Forbidden("get issue", 403, "no"), 1, 0.0), Again)


def test_what_only_a_person_can_mend_is_not_tried_again() -> None:
    assert decide(InvalidArgument("limit", "too large"), 1, 0.0) == Refused()


def test_descriptions_hold_no_foreign_text() -> None:
    def fail() -> None:
        raise ValueError("the issue says SECRET")

    try:
        try:
            fail()
        except ValueError as inner:
            raise KeyError("SECRET") from inner
    except KeyError as error:
        for text in (describe(error), stack(error)):
            assert "SECRET" not in text
            assert "KeyError" in text
            assert "ValueError" in text
            assert "in fail" in text or "at fail" in text
    assert describe(Forbidden("get issue", 403, "SECRET")) == "Forbidden: get issue (403)"
    assert describe(RateLimited("search is used up")) == "RateLimited: search is used up"
