"""F3: the search words of an issue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.query import STOP_WORDS, extract_search_keywords

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


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param("## Login page\n### Deeper\n## On a Windows machine\n", "Login page Windows", id="three words"),
        pytest.param("## Login crash dialog", "Login dialog", id="what the title has"),
        pytest.param("## Steps to reproduce:\n## Proxy\n", "Proxy", id="of the template"),
        pytest.param("<!--\n## Before you submit\nRead the guide.\n-->\n\n## Proxy\n", "Proxy", id="that nobody sees"),
        pytest.param("```TypeError```\n## Proxy\n````log`\n## Spooler", "Proxy Spooler", id="below code in one line"),
        pytest.param("```sh\n## a comment\n```\n~~~\n```\n## quoted\n~~~\n## Proxy\n", "Proxy", id="in code"),
        pytest.param("```\n~~~\n## quoted\n```\n## Proxy\n", "Proxy", id="a fence of another kind"),
        pytest.param("````md\n```\n## quoted\n```\n````\n## Proxy\n", "Proxy", id="a shorter fence"),
        pytest.param("```\n```sh\n## quoted\n`````\n## Proxy\n", "Proxy", id="a fence that says more"),
    ],
)
def test_f3_words_of_headings_follow(body: str, found: str) -> None:
    assert extract_search_keywords("Crash", body, ["Steps to Reproduce"]) == f"Crash {found}"


def test_f3_whole_words_up_to_200_characters() -> None:
    words = ["w" * 60 + str(n) for n in range(4)]
    assert extract_search_keywords(" ".join(words)) == " ".join(words[:3])
    assert extract_search_keywords("x" * 5_000) == "x" * 200


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=20), max_size=3))
def test_f3_result_is_searchable_words_only(title: str, body: str, template: list[str]) -> None:
    keywords = extract_search_keywords(title, body, template)
    words = keywords.split(" ") if keywords else []
    assert len(keywords) <= 200
    assert len(words) <= 8
    assert not any(word.lower() in STOP_WORDS for word in words)
    assert not set(keywords) & set("\"':()-#@<>`\n\t\u202e\u200b")
