"""P4: one function says which word a probability has, and in which of the two tiers it is."""

from __future__ import annotations

import pytest

from bot.domain.likelihood import Likelihood, Tier, likelihood


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
