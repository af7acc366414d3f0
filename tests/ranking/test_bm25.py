"""H5: BM25, BM25+ and BM25F against the formulas as published, and what holds of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ranking.relevance import Text, bm25, bm25f, bm25plus, inverse_document_frequency
from tests.effort import costs_at_most

SCORERS: list[Callable[..., list[float]]] = [bm25, bm25plus, bm25f]


def text(title: str, body: str = "") -> Text:
    return Text(Counter(title.split()), Counter(body.split()))


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


def test_h5_bm25f_counts_a_title_more() -> None:
    in_title, in_body = text("crash", "else"), text("else", "crash")
    scores = bm25f({"crash": 1.0}, [in_title, in_body])
    assert scores[0] > scores[1]
    assert len(set(bm25({"crash": 1.0}, [in_title, in_body]))) == 1


@pytest.mark.parametrize("score", SCORERS)
def test_h5_the_time_for_a_text_of_many_words_is_linear(score: Callable[..., list[float]]) -> None:
    """Where no space parts words, each sign of an issue begins another."""
    terms = {f"word{place}": 1.0 for place in range(6_000)}
    with costs_at_most(1.0):
        score(terms, [Text({}, dict.fromkeys(terms, 1))] * 10)


words = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)
texts = st.lists(st.builds(text, words, words), max_size=5)
terms = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 5), max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORERS)
@given(terms=terms, texts=texts)
def test_h5_scores_are_shares_and_nothing_shared_is_nothing(
    score: Callable[..., list[float]], terms: dict[str, float], texts: list[Text]
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


@given(st.integers(0, 100), st.integers(0, 200))
def test_h5_rarer_is_worth_more(total: int, containing: int) -> None:
    worth = inverse_document_frequency(total, containing)
    assert worth > 0
    assert inverse_document_frequency(total, containing + 1) <= worth
    assert math.isfinite(worth)
