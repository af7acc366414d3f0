"""Titles that are the same but for a word or two in one place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.titles import LEAST_SAME, siblings
from bot.text.words import split_words

TITLES = st.lists(st.sampled_from(["crash", "Crashes:", "on", "start", "iOS", "android", "8", "9"]), max_size=7).map(
    " ".join
)


def is_swapped(title: str, other: str) -> bool:
    (told,) = siblings(title, [other])
    return told


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("iOS: list does not scroll", "Android: list does not scroll"),
        ("parse: accept the flag --quiet", "parse: accept the flag --strict"),
        ("Update libfoo to 2.1.3", "Update libfoo to 2.1.4"),
        ("map view: pins are lost after zoom", "map view: labels get lost after zoom"),
    ],
)
def test_siblings_have_another_word_in_one_place(title: str, other: str) -> None:
    assert is_swapped(title, other)
    assert is_swapped(other, title)


@pytest.mark.parametrize(
    ("title", "other"),
    [
        pytest.param("list does not scroll", "list does not scroll", id="the same"),
        pytest.param("list does not scroll", "list does not scroll on iOS", id="one says more"),
        pytest.param("app crashes on start", "app crash on start", id="a word bent otherwise"),
        pytest.param("list recieves no events", "list receives no events", id="a slip"),
        pytest.param("No-Op tracer for spans", "NoOp tracer for spans", id="a word in two"),
        pytest.param("list scrolls badly", "table scrolls badly", id="too little is the same"),
        pytest.param("list does not scroll at night", "list does hang and blink at night", id="too much is other"),
        pytest.param("old list does not scroll at night", "new list does not scroll at noon", id="two places"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_other_titles_are_no_siblings(title: str, other: str) -> None:
    assert not is_swapped(title, other)


@given(TITLES, TITLES)
def test_it_is_the_same_from_both_sides_and_never_between_equals(title: str, other: str) -> None:
    assert is_swapped(title, other) == is_swapped(other, title)
    assert not is_swapped(title, title.upper())
    if is_swapped(title, other):
        assert min(len(split_words(title)), len(split_words(other))) > LEAST_SAME
