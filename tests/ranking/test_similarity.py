"""F5: how alike two titles are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.similarity import dice_sorensen, title_ratio


def slow_dice(a: str, b: str) -> float:
    """The rule of F5 word by word, as the oracle."""
    a, b = a.strip().lower(), b.strip().lower()
    if a == b:
        return 1.0
    if len(a) < 2 or len(b) < 2:
        return 0.0
    left = {a[i] + a[i + 1] for i in range(len(a) - 1)}
    right = {b[i] + b[i + 1] for i in range(len(b) - 1)}
    shared = sum(1 for pair in left if pair in right)
    return 2 * shared / (len(left) + len(right))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("Hello", "hello", 1.0), ("", "", 1.0), ("x", "X ", 1.0), ("x", "xylophone", 0.0), ("", "ab", 0.0)],
)
def test_f5_exact_cases(a: str, b: str, expected: float) -> None:
    assert dice_sorensen(a, b) == expected


def test_f5_examples() -> None:
    assert dice_sorensen("pipeline analytics", "pipeline metrics") > 0.4
    assert 0.2 < dice_sorensen("auth", "authentication") < 0.9
    assert dice_sorensen("crash on login", "quick wurzel") < 0.1


def test_f5_sets_not_multisets() -> None:
    assert dice_sorensen("aaaa", "aa") == 1.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_f5_agrees_with_the_rule_and_is_symmetric(a: str, b: str) -> None:
    assert dice_sorensen(a, b) == slow_dice(a, b) == dice_sorensen(b, a)
    assert 0.0 <= dice_sorensen(a, b) <= 1.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_title_ratio_is_a_symmetric_share(a: str, b: str) -> None:
    assert 0.0 <= title_ratio(a, b) <= 1.0
    assert title_ratio(a, b) == pytest.approx(title_ratio(b, a))
    assert title_ratio(a, a) == 1.0


def test_title_ratio_forgives_order_and_punctuation() -> None:
    assert title_ratio("Login: crash!", "crash (login)") == 1.0
    assert title_ratio("...", "crash") == 0.0
