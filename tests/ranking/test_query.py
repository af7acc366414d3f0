"""F4: an issue's text can never say anything to GitHub's query parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import RepoRef
from bot.search.ranking.query import any_of, build_query, literal_query, neutralise, neutralise_term, phrase

REPO = RepoRef("acme", "app")


def test_f4_shape() -> None:
    assert literal_query(REPO, "Fix crash login") == "repo:acme/app is:issue in:title Fix crash login"
    assert literal_query(REPO, "crash", "open") == "repo:acme/app is:issue is:open in:title crash"
    assert build_query(REPO, '"a b"', "body") == 'repo:acme/app is:issue in:body "a b"'


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ('x" repo:evil/repo', "x repo evil repo"),
        ("crash OR is:pr", "crash or is pr"),
        ("AND NOT -label:bug", "and not label bug"),
        ("(a) (b", "a b"),
        ("a\u202eb\u0000c\u200bd\r\ne", "a b c d e"),
        ("“smart” «quotes»", "smart quotes"),
        ("*?~^\\/<>=@#", ""),
        ("author：full-width", "author full width"),
        ("x \uff2f\uff32 y NO\u0301T z", "x \uff4f\uff52 y n\u00f3t z"),
    ],
)
def test_f4_hostile_text_is_neutralised(hostile: str, harmless: str) -> None:
    assert neutralise(hostile) == harmless
    assert literal_query(REPO, hostile) == f"repo:acme/app is:issue in:title {harmless}".rstrip()


def test_f4_identifiers_keep_what_holds_them_together() -> None:
    assert neutralise_term("net/http.ListenAndServe: snake_case --no-cache x-") == (
        "net http.ListenAndServe snake_case no-cache x"
    )
    assert phrase('index "out" of range') == '"index out of range"'
    assert phrase("!!!") == ""


def test_f4_alternatives_never_reach_the_qualifiers() -> None:
    assert any_of(["a b", "c d", "e"]) == "((a b) OR (c d) OR e)"
    assert any_of(["a b"]) == "(a b)"
    assert any_of(['"a b"', "c"]) == '("a b" OR c)'


@given(st.text(max_size=200))
def test_f4_no_text_adds_a_qualifier_or_an_operator(text: str) -> None:
    for clean in (neutralise(text), neutralise_term(text)):
        assert not set(clean) & set('":()*<>\\\n\r\t\0')
        assert all(not word.startswith("-") and word not in ("AND", "OR", "NOT") for word in clean.split(" "))
    assert phrase(text).count('"') in (0, 2)
