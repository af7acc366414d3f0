"""Where the bot is surest though nobody marked a duplicate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.quality.evaluation.measures import LEAST_LISTED, LISTED, JudgedArrival, Unmarked, likeliest

START = datetime(2024, 1, 1, tzinfo=UTC)


def judged(
    number: int, top: float | None, *, marked: bool = False, different: frozenset[int] = frozenset()
) -> JudgedArrival:
    found = () if top is None else ((1, top), (2, top / 2))
    originals = frozenset({1}) if marked else None
    return JudgedArrival(number, START + timedelta(hours=number), originals, found, different=different)


def test_the_surest_come_first_and_of_equals_the_later() -> None:
    some = [judged(5, 0.3), judged(6, 0.9, marked=True), judged(7, 0.3), judged(8, None), judged(9, 0.5)]
    some += [judged(10, LEAST_LISTED - 0.01)]
    assert likeliest(some) == (Unmarked(9, 1, 0.5), Unmarked(7, 1, 0.3), Unmarked(5, 1, 0.3))


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.booleans()), max_size=40))
def test_a_few_and_none_that_is_less_likely_than_one_left_out(given: list[tuple[float | None, bool]]) -> None:
    some = [judged(number, top, marked=marked) for number, (top, marked) in enumerate(given, 3)]
    silent = sorted((one.top for one in some if one.originals is None and one.top >= LEAST_LISTED), reverse=True)
    assert [one.confidence for one in likeliest(some)] == silent[:LISTED]
