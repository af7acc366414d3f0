"""F6: scoring by title alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import InvalidArgument
from bot.search.ranking.similarity import bigrams, score_candidates

START = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Found:
    number: int
    title: str
    created_at: datetime | str = START


def numbers(*args: Any, **options: Any) -> list[int]:
    return [scored.candidate.number for scored in score_candidates(*args, **options)]


def test_f6_the_target_itself_is_excluded() -> None:
    assert numbers("crash", [Found(7, "crash"), Found(8, "crash")], 0.3, 10, target_number=7) == [8]


def test_f6_threshold_one_keeps_equal_bigram_sets_only() -> None:
    found = [Found(1, "CRASH "), Found(2, "crashes"), Found(3, "shcrash")]
    assert numbers("crash", found, 1.0, 10) == [1]


@pytest.mark.parametrize("time", [START + timedelta(minutes=1), START.replace(tzinfo=None), "2024-01-01T00:00:00Z"])
def test_f6_ties_are_broken_by_age_older_first_however_times_are_written(time: datetime | str) -> None:
    younger, older = Found(1, "crash", START + timedelta(hours=1)), Found(2, "crash", time)
    assert numbers("crash", [younger, older], 0.3, 10) == [2, 1]
    assert numbers("crash", [older, Found(3, "crash", START - timedelta(minutes=1))], 0.3, 10) == [3, 2]


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("threshold", (math.nan, 10)),
        ("threshold", (-0.1, 10)),
        ("threshold", (30, 10)),
        ("threshold", (True, 10)),
        ("threshold", ("0.3", 10)),
        ("max_candidates", (0.3, -1)),
        ("max_candidates", (0.3, 0)),
        ("max_candidates", (0.3, 2.5)),
    ],
)
def test_f1_f6_arguments_outside_their_range_are_named(argument: str, options: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidArgument, match=argument):
        numbers("crash", [Found(1, "crash"), Found(2, "crash")], *options)


def test_f6_what_has_no_readable_time_comes_by_its_number() -> None:
    class Bare(NamedTuple):
        number: int
        title: str

    assert numbers("crash", [Bare(9, "crash"), Bare(7, "crash")], 0.3, 10) == [7, 9]
    found = [Found(9, "crash", "Sat, 31 Jan 2026 12:00:00 GMT"), Found(8, "crash", "soon"), Found(10, "crash")]
    assert numbers("crash", found, 0.3, 10) == [10, 8, 9]


titles = st.text(alphabet="abc ", max_size=6)


@given(titles, st.lists(titles, max_size=8), st.floats(0, 1), st.integers(1, 10))
def test_f6_properties(title: str, others: list[str], threshold: float, limit: int) -> None:
    found = [Found(n, other) for n, other in enumerate(others)]
    scored = score_candidates(title, found, threshold, limit)
    assert len(scored) <= limit
    assert all(one.similarity >= threshold for one in scored)
    assert [one.similarity for one in scored] == sorted((one.similarity for one in scored), reverse=True)
    assert len(score_candidates(title, found, 0.0, None)) == len(found)
    for one in score_candidates(title, found, 1.0, None):
        assert bigrams(one.candidate.title) == bigrams(title)
