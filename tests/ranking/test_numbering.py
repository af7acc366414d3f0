"""Titles that differ by their number alone."""

from __future__ import annotations

import pytest

from bot.ranking.numbering import is_another


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Crash on start (2)", "Crash on start"),
        ("Crash on start #3", "crash on start (2)"),
        ("Crash on start, part 2 ", "Crash on start"),
    ],
)
def test_a_number_behind_a_title_tells_of_another_one(title: str, other: str) -> None:
    assert is_another(title, other)


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Crash on start", "Crash on start"),
        ("Crash on start", "Crash on start (2)"),
        ("Crash on start (2)", "Crash on start (2)"),
        ("Crash on start (2)", "Crash on exit"),
        ("Error 404", "Error"),
        ("Rampart 2", "Ram"),
        ("", ""),
    ],
)
def test_other_titles_say_no_such_thing(title: str, other: str) -> None:
    assert not is_another(title, other)
