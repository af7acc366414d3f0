"""P4: which word a probability has, in which tier it is, and how sure a share is that was counted in few cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.likelihood import Likelihood, Tier, likelihood, wilson


@pytest.mark.parametrize(
    ("probability", "word", "tier"),
    [
        (1.0, "very likely", "likely"),
        (0.85, "very likely", "likely"),
        (0.849, "likely", "likely"),
        (0.6, "likely", "likely"),
        (0.599, "possibly", "related"),
        (0.1, "possibly", "related"),
        (0.099, "unlikely", "related"),
        (0.0, "unlikely", "related"),
    ],
)
def test_p4_a_probability_has_a_word_and_a_tier(probability: float, word: str, tier: str) -> None:
    said = likelihood(probability)
    assert (said, said.tier) == (Likelihood(word), Tier(tier))


def test_p4_where_the_upper_tier_begins_can_be_set() -> None:
    assert likelihood(0.4, likely=0.4) is Likelihood.LIKELY
    # No word of the upper tier stands under a headline of the lower one.
    assert likelihood(0.9, likely=0.95) is Likelihood.POSSIBLY
    assert likelihood(0.9, likely=0.4) is Likelihood.VERY_LIKELY


def test_wilson_against_published_values() -> None:
    """Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3."""
    for right, count, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        assert wilson(right / count, count) == pytest.approx((low, high), abs=5e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0.0, 0) == (0.0, 1.0)


@given(st.integers(1, 10_000), st.data())
def test_it_holds_the_share_and_is_one_itself(count: int, data: st.DataObject) -> None:
    share = data.draw(st.integers(0, count)) / count
    low, high = wilson(share, count)
    assert 0.0 <= low <= share <= high <= 1.0


@given(st.integers(1, 200), st.data())
def test_one_more_case_moves_neither_bound_the_wrong_way(count: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, count))
    (low, high), better = wilson(right / count, count), wilson((right + 1) / (count + 1), count + 1)
    worse = wilson(right / (count + 1), count + 1)
    assert better >= (low, high)
    assert worse[0] <= low and worse[1] <= high
