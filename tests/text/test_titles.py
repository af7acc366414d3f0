"""What a title is about, and whether it tells of another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import read
from bot.text.titles import LEAST_SAME, is_unfilled, numbered_apart, plain, siblings, subject
from bot.text.words import split_words


@pytest.mark.parametrize(
    "before",
    [
        "[Bug] ",
        "[BUG]: ",
        "[Bug]",
        "bug: ",
        "Bug - ",
        "🐛 ",
        "\ufeff",
        "\u200f[Bug] ",
        ":bug: ",
        "🐛 [Bug]: ",
        "[Bug Report] - ",
        "Feature request: ",
        "feat: ",
        "**Bug:** ",
        "【Bug】",
        "Bug：",
        "(Question) ",
    ],
)
def test_the_kind_of_an_issue_is_not_what_it_is_about(before: str) -> None:
    title = "net/pump: valve does not close"
    assert subject(f"{before}{title}") == title
    assert read(f"{before}{title}", "") == read(title, "")
    assert siblings(f"{before}{title}", [title, f"[Enhancement] {title}"]) == [False, False]
    assert numbered_apart(f"{before}{title} (2)", [title]) == [True]


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Bug",
        "[Bug]: ",
        "Bug in the pump",
        "bugs: show them",
        "Feature flags: off by default",
        "feature-flags: off by default",
        "issue-tracker: slow",
        "Issue #12: slow",
        "[iOS] slow",
        ".gitignore: ignored",
    ],
)
def test_other_titles_stay_as_they_are(title: str) -> None:
    assert subject(title) == title


def test_a_title_is_about_the_same_in_letters_and_signs_of_any_width() -> None:
    wide = "ｎｅｔ：ポンプが止まる、Ｅ１２"
    assert subject(wide) == "net:ポンプが止まる、E12"
    assert read(wide, "") == read("net: ポンプが止まる、E12", "")


@given(st.text())
def test_what_a_title_is_about_is_its_end(title: str) -> None:
    assert plain(title).endswith(subject(title))
    assert bool(subject(title)) == bool(title)


@pytest.mark.parametrize(
    ("title", "unfilled"),
    [
        ("tour: [short description of the issue]", True),
        ("[Bug]: <Please enter a title>", True),
        ("[Bug]: ", False),
        ("Show [your name] in the header", False),
        ("net: [fd00::1] is refused", False),
    ],
)
def test_p2_a_title_can_be_the_forms_own_still(title: str, unfilled: bool) -> None:
    assert is_unfilled(title) is unfilled


@pytest.mark.parametrize(
    ("title", "other", "another"),
    [
        ("Crash on start (2)", "Crash on start", True),
        ("Crash on start #3", "crash on start (2)", True),
        ("Crash on start, part 2 ", "Crash on start", True),
        ("Crash on start", "Crash on start", False),
        ("Crash on start", "Crash on start (2)", False),
        ("Crash on start (2)", "Crash on start (2)", False),
        ("Crash on start (2)", "Crash on exit", False),
        ("Error 404", "Error", False),
        ("Rampart 2", "Ram", False),
        ("", "", False),
    ],
)
def test_a_number_behind_a_title_tells_of_another_one(title: str, other: str, another: bool) -> None:
    assert numbered_apart(title, [other]) == [another]


@pytest.mark.parametrize(
    ("title", "backport"),
    [
        ("Backport: list does not scroll", True),
        ("[Backport 2.x] List does not scroll", True),
        ("list does not scroll [1.22 backport]", True),
        ("Cherry-pick #12 to 2.x", True),
        ("  [backport]list does not scroll ", True),
        ("List in the backport of 2.x does not scroll", False),
        ("Backports page is empty", False),
        ("[[[[" * 500, False),
    ],
)
def test_a_backport_tells_of_another_one(title: str, backport: bool) -> None:
    assert numbered_apart(title, ["List does not scroll"]) == [backport]


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
