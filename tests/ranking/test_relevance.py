"""H5: what candidates are sorted by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.relevance import (
    CountedWords,
    FieldCounts,
    Relevance,
    WordRarity,
    bm25,
    bm25f,
    bm25plus,
    relevances,
)
from bot.search.ranking.similarity import dice_sorensen
from tests.matching.made import an_issue as issue

BY_WORDS = (Relevance.BM25, Relevance.BM25F, Relevance.BM25PLUS)


def test_h5_title_is_the_title_scorer_and_learned_the_probability() -> None:
    target, others = issue(9, "Export is broken"), [issue(1, "Export broke"), issue(2, "Fonts are blurred")]
    stats = CountedWords()
    assert relevances(Relevance.TITLE, target, others, [0.1, 0.9], stats) == [
        dice_sorensen(target.title, other.title) for other in others
    ]
    assert relevances(Relevance.LEARNED, target, others, [0.1, 0.9], stats) == [0.1, 0.9]


@pytest.mark.parametrize("by", BY_WORDS)
def test_h5_words_that_are_rare_in_the_repository_count_more(by: Relevance) -> None:
    stats = CountedWords()
    stats.add({number: {"crash"} for number in range(1, 50)})
    target = issue(99, "Crash in the quagga parser")
    common, rare, neither = issue(1, "Crash in a menu"), issue(2, "Slow quagga menu"), issue(3, "Fonts blurred")
    values = relevances(by, target, [common, rare, neither], [0, 0, 0], stats)
    assert values[1] > values[0] > values[2] == 0


SCORERS: list[Callable[..., list[float]]] = [bm25, bm25plus, bm25f]


def text(title: str, body: str = "") -> FieldCounts:
    return FieldCounts(Counter(title.split()), Counter(body.split()))


def test_h5_the_formulas() -> None:
    texts = [text("crash", "crash on login"), text("login", "slow")]
    terms = {"crash": 2.0, "login": 1.0}
    mean = (4 + 2) / 2
    first = 1 - 0.75 + 0.75 * 4 / mean

    def rate(count: int, spread: float) -> float:
        return count * 2.2 / (count + 1.2 * spread)

    assert bm25(terms, texts)[0] == pytest.approx((2 * rate(2, first) + rate(1, first)) / (3 * 2.2))
    assert bm25plus(terms, texts)[0] == pytest.approx((2 * (1 + rate(2, first)) + 1 + rate(1, first)) / (3 * 3.2))
    # Titles have one word each, bodies 3 and 1.
    body = 1 - 0.75 + 0.75 * 3 / 2
    crash, login = 3 / 1 + 1 / body, 1 / body
    assert bm25f(terms, texts)[0] == pytest.approx((2 * crash / (1.2 + crash) + login / (1.2 + login)) / 3)


def test_h5_bm25plus_lets_no_long_text_lose_to_one_without_the_word() -> None:
    long = text("", "crash " + "filler " * 5_000)
    without = text("", "filler")
    terms = {"crash": 1.0, "login": 1.0}
    assert bm25(terms, [long, without, without])[0] < 0.13
    assert bm25plus(terms, [long, without, without])[0] > 1 / 3.2 / 2 > 0.13


words = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)
texts = st.lists(st.builds(text, words, words), max_size=5)
terms = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 5), max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORERS)
@given(terms=terms, texts=texts)
def test_h5_scores_are_shares_and_nothing_shared_is_nothing(
    score: Callable[..., list[float]], terms: dict[str, float], texts: list[FieldCounts]
) -> None:
    scores = score(terms, texts)
    assert len(scores) == len(texts)
    for value, one in zip(scores, texts, strict=True):
        assert 0 <= value <= 1
        if not any(one.count(term) for term in terms):
            assert value == 0


@pytest.mark.parametrize("score", SCORERS)
@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6))
def test_h5_one_more_occurrence_in_place_of_another_word_never_hurts(
    score: Callable[..., list[float]], body: list[str]
) -> None:
    less, more = text("z", " ".join(["x", *body])), text("z", " ".join(["q", *body]))
    scores = score({"q": 1.0, "a": 1.0}, [less, more])
    assert scores[1] >= scores[0]


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
