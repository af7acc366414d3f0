"""The values of number and date qualifiers ("Understanding the search syntax")."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.simulator.search import QueryError
from bot.simulator.search.ranges import numbers, times


@pytest.mark.parametrize(
    ("value", "inside", "outside"),
    [
        ("2024-02-29", ["2024-02-29T00:00:00Z", "2024-02-29T23:59:59Z"], ["2024-03-01T00:00:00Z"]),
        (">2024-02-29", ["2024-03-01T00:00:00Z"], ["2024-02-29T23:59:59Z"]),
        (">=2024-02-29", ["2024-02-29T00:00:00Z"], ["2024-02-28T23:59:59Z"]),
        ("<2024-02-29", ["2024-02-28T23:59:59Z"], ["2024-02-29T00:00:00Z"]),
        ("<=2024-02-29", ["2024-02-29T23:59:59Z"], ["2024-03-01T00:00:00Z"]),
        ("2024-02-01..2024-02-29", ["2024-02-29T12:00:00Z"], ["2024-01-31T23:59:59Z", "2024-03-01T00:00:00Z"]),
        ("2024-02-01..*", ["2030-01-01T00:00:00Z"], ["2024-01-31T00:00:00Z"]),
        ("*..2024-02-01", ["1999-01-01T00:00:00Z"], ["2024-02-02T00:00:00Z"]),
        ("2024-02", ["2024-02-01T00:00:00Z", "2024-02-29T23:59:59Z"], ["2024-03-01T00:00:00Z"]),
        ("2023", ["2023-01-01T00:00:00Z", "2023-12-31T23:59:59Z"], ["2024-01-01T00:00:00Z"]),
        ("2024-01-01T10:00:00Z", ["2024-01-01T10:00:00Z"], ["2024-01-01T10:00:01Z"]),
        (">=2024-01-01T01:00:00+07:00", ["2023-12-31T18:00:00Z"], ["2023-12-31T17:59:59Z"]),
        (">=2024-01-01T01:00:00 07:00", ["2023-12-31T18:00:00Z"], ["2023-12-31T17:59:59Z"]),
        ("<2024-01-01T10:00", ["2024-01-01T09:59:59Z"], ["2024-01-01T10:00:00Z"]),
    ],
)
def test_dates(value: str, inside: list[str], outside: list[str]) -> None:
    allowed = times(value)
    assert all(datetime.fromisoformat(moment).timestamp() in allowed for moment in inside)
    assert not any(datetime.fromisoformat(moment).timestamp() in allowed for moment in outside)


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2024-13-01", "2024-02-30", "0000-01-01", "2024-01-01T25:00:00Z", ">"]
)
def test_what_is_no_date_is_refused(value: str) -> None:
    with pytest.raises(QueryError, match="is not a recognized date/time format"):
        times(value)


@pytest.mark.slow
@given(st.text() | st.from_regex(r"(>|<|>=|<=)?\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d)?)?(\.\..*)?"))
def test_any_value_is_a_range_or_refused(value: str) -> None:
    numbers(value)
    try:
        times(value)
    except QueryError as error:
        assert error.errors[0]["code"] == "invalid"
