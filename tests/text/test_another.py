"""Titles that say themselves that they are another one's."""

from __future__ import annotations

import pytest

from bot.text.titles import is_another, says_another


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


@pytest.mark.parametrize(
    "title",
    [
        "Backport: list does not scroll",
        "[Backport 2.x] List does not scroll",
        "list does not scroll [1.22 backport]",
        "Cherry-pick #12 to 2.x",
        "  [backport]list does not scroll ",
    ],
)
def test_a_backport_tells_of_another_one(title: str) -> None:
    assert says_another(title)
    assert is_another(title, "List does not scroll")


@pytest.mark.parametrize(
    "title", ["List in the backport of 2.x does not scroll", "Backports page is empty", "[[[[" * 500]
)
def test_what_is_about_backports_is_none(title: str) -> None:
    assert not says_another(title)
    assert not is_another(title, title)
