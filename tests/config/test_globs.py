"""C6: titles are globs, matched in bounded time."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.config.schema import glob_matches
from tests.effort import costs_at_most


@pytest.mark.parametrize(
    ("glob", "title", "fits"),
    [
        ("", "", True),
        ("", "x", False),
        ("*", "", True),
        ("*", "anything", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*ab*ab", "abab", True),
        ("*aba*aba", "ababa", False),
        ("[Bug]*", "[BUG] it fails", True),
        ("[Bug]*", "B it fails", False),
        ("c++ *", "C++ build", True),
        ("a\\*", "a\\b", True),
        (" Release * ", "release 3  ", True),
        ("ünïcode*", "ÜNÏCODE!", True),
    ],
)
def test_c6_titles_are_globs(glob: str, title: str, fits: bool) -> None:
    assert glob_matches(glob, title) is fits


@given(st.text("ab?*\\.+", max_size=12), st.text("ab\\.+", max_size=12))
def test_c6_stars_and_question_marks_agree_with_the_standard_library(glob: str, title: str) -> None:
    assert glob_matches(glob, title) is fnmatch.fnmatchcase(title, glob)


def test_c6_no_glob_takes_long() -> None:
    with costs_at_most(3):
        for glob in ("*a" * 100, "a?" * 100, ("*" + "?" * 9 + "b") * 20, "*" * 200):
            glob_matches(glob, "a" * 100_000)
