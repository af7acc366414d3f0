"""F3: the search words of an issue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.query import STOP_WORDS, extract_search_keywords
from tests.effort import costs_at_most

REQUIRED = (
    "the a an is are to for in on of and or with from by as at this that it be not do have will can should would add"
    " new use"
)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fix: crash on login!", "Fix crash login"),
        ("Add new authentication for users", "authentication users"),
        ("THE Crash", "Crash"),
        ("one two three four five six", "one two three four five"),
        ("crash, Crash and CRASH again", "crash again"),
        ("log.Fatal(snake_case)", "log Fatal snake case"),
        ("", ""),
        ("the of and", ""),
        ("!!! ??? ---", ""),
        ("हिन्दी में समस्या", "हिन्दी में समस्या"),
        ("日本語の タイトル", "日本語の タイトル"),
        ("сбой при входе", "сбой при входе"),
    ],
)
def test_f3_title_words(title: str, expected: str) -> None:
    assert extract_search_keywords(title) == expected


def test_f3_stop_words_hold_the_required_ones() -> None:
    assert set(REQUIRED.split()) <= STOP_WORDS


def test_f3_up_to_three_words_of_second_level_headings_follow() -> None:
    body = "## Login page\ntext\n### Deeper\n## On a Windows machine with TLS\n"
    assert extract_search_keywords("Crash", body) == "Crash Login page Windows"


def test_f3_heading_words_that_the_title_has_are_not_repeated() -> None:
    assert extract_search_keywords("Crash login", "## Login crash dialog") == "Crash login dialog"


def test_f3_headings_in_code_and_of_the_template_do_not_count() -> None:
    body = "## Steps to reproduce:\n```sh\n## a comment\n```\n~~~\n```\n## quoted\n~~~\n## Proxy\n"
    assert extract_search_keywords("Crash", body, ["Steps to Reproduce"]) == "Crash Proxy"


def test_f3_headings_that_nobody_sees_do_not_count() -> None:
    body = "<!--\n## Before you submit\nRead the guide.\n-->\n\nIt crashes.\n\n## Proxy\n"
    assert extract_search_keywords("Crash on start", body) == "Crash start Proxy"


def test_f3_code_between_ticks_in_one_line_hides_nothing_below_it() -> None:
    assert extract_search_keywords("Crash", "```TypeError```\n## Proxy\n````log`\n## Spooler") == "Crash Proxy Spooler"


def test_f3_code_ends_at_a_fence_of_its_own_kind() -> None:
    assert extract_search_keywords("Crash", "```\n## quoted\n```\n## Proxy\n") == "Crash Proxy"
    assert extract_search_keywords("Crash", "```\n~~~\n## quoted\n```\n## Proxy\n") == "Crash Proxy"


def test_f3_a_fence_ends_at_one_of_at_least_its_length_that_says_nothing_more() -> None:
    assert extract_search_keywords("Crash", "````md\n```\n## quoted\n```\n````\n## Proxy\n") == "Crash Proxy"
    assert extract_search_keywords("Crash", "```\n```sh\n## quoted\n`````\n## Proxy\n") == "Crash Proxy"


def test_f3_code_within_one_line_takes_no_heading_away() -> None:
    assert extract_search_keywords("Crash", "```panic: refused```\n## Proxy\n") == "Crash Proxy"


def test_f3_whole_words_up_to_200_characters() -> None:
    words = ["w" * 60 + str(n) for n in range(4)]
    assert extract_search_keywords(" ".join(words)) == " ".join(words[:3])
    assert extract_search_keywords("x" * 5_000) == "x" * 200


@pytest.mark.parametrize("unit", ["## a\n", "`", "```\n", "#", " ", "##\t", "\u0301", "a\u200d", "\n", "\r"])
def test_f3_huge_texts_are_bounded(unit: str) -> None:
    huge = unit * (65_536 // len(unit))
    with costs_at_most(2):
        assert len(extract_search_keywords(huge, huge)) <= 200


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=20), max_size=3))
def test_f3_result_is_searchable_words_only(title: str, body: str, template: list[str]) -> None:
    keywords = extract_search_keywords(title, body, template)
    words = keywords.split(" ") if keywords else []
    assert len(keywords) <= 200
    assert len(words) <= 8
    assert not any(word.lower() in STOP_WORDS for word in words)
    assert not set(keywords) & set("\"':()-#@<>`\n\t\u202e\u200b")
