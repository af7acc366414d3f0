"""From text to terms: the same words for texts and queries, in any script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.simulator.search.analysis import Vocabulary, tokens, units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can't open net/http.Client", ["can", "t", "open", "net", "http", "client"]),
        ("snake_case x86-64 #12", ["snake_case", "x86", "64", "12"]),
        ("“Quotes” — and…dots", ["quotes", "and", "dots"]),
        ("Ünïcode ﬁle ＡＢＣ１", ["ünïcode", "file", "abc1"]),
        ("東京tower", ["東", "京", "tower"]),
        ("हिन्दी ภาษาไทย 한국어", ["हिन्दी", "ภาษาไทย", "한국어"]),
        ("\x00\x1f\ud800\u00a0😀", []),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_is_split_at_whatever_is_no_word_character(text: str) -> None:
    assert tokens(text) == re.findall(r"\w+", text.lower(), re.ASCII)


@given(st.text())
def test_a_querys_units_hold_the_tokens_of_the_text(text: str) -> None:
    assert [token for unit in units(text) for token in unit] == tokens(text)


@given(st.lists(st.text(), max_size=4))
def test_text_before_and_after_a_space_is_read_alone(texts: list[str]) -> None:
    assert tokens(" ".join(texts)) == [token for text in texts for token in tokens(text)]


def test_the_vocabulary_stems_english_words_and_nothing_else() -> None:
    vocabulary = Vocabulary()
    assert vocabulary["crashes"] == vocabulary["crash"] == vocabulary.find("crashed") == vocabulary.find("crash")
    assert vocabulary["x86s"] != vocabulary["x86"]
    assert vocabulary["größes"] != vocabulary["größe"]
    assert vocabulary["s" * 41] != vocabulary["s" * 40]


def test_searching_adds_nothing_to_the_vocabulary() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.find("unheard") == 0
    assert len(vocabulary) == 0
