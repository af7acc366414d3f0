"""What a title is about, without the kind of issue that it begins with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import read
from bot.text.titles import is_another, is_unfilled, plain, siblings, subject
from tests.effort import costs_at_most


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
    assert is_another(f"{before}{title} (2)", title)


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


@pytest.mark.parametrize("unit", ["*", "[", "bug:", "bug -", "🐛", " ", ":", "[bug]"])
def test_long_titles_take_little_time(unit: str) -> None:
    with costs_at_most(1):
        subject(unit * 20_000)


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
