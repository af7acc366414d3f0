"""How rare a word is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.relevance import CountedWords, WordRarity


def test_a_rarer_word_weighs_more_and_a_new_one_most() -> None:
    rarity = WordRarity(100, {"common": 90, "rare": 2})
    assert rarity("common") < rarity("rare") < rarity("new") == 1.0


def test_without_statistics_all_words_are_equally_rare() -> None:
    assert WordRarity(0, {})("anything") == WordRarity(0, {})("else") == 1.0


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_rarity_is_a_share_whatever_the_counts(total: int, seen: int) -> None:
    assert 0 < WordRarity(total, {"word": seen})("word") <= 1


def test_an_issue_counts_once_and_a_word_once_an_issue() -> None:
    words = CountedWords()
    words.add({1: ["a", "a", "b"], 2: ["b"]})
    words.add({1: ["a", "c"]})
    assert words.total() == 2
    assert words.counts(["a", "b", "c"]) == {"a": 1, "b": 2}
