"""Complete linkage: no chains, no umbrellas, one answer whatever the order (D8)."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.quality.feedback import Pair
from bot.quality.scanning.groups import linked

PAIRS = st.dictionaries(
    st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda pair: pair[0] < pair[1]),
    # Few different values, so that equals are met.
    st.integers(0, 10).map(lambda tenths: tenths / 10),
)


def reference(likely: dict[Pair, float], threshold: float) -> list[tuple[int, ...]]:
    """The definition, slowly: again and again the two groups whose least likely pair is the likeliest."""
    groups: list[tuple[int, ...]] = [(number,) for number in sorted({number for pair in likely for number in pair})]

    def least(one: tuple[int, ...], other: tuple[int, ...]) -> float:
        return min(likely.get((min(a, b), max(a, b)), -1.0) for a in one for b in other)

    while True:
        merges = [(-least(one, other), one[0], other[0], one, other) for one, other in combinations(groups, 2)]
        best = min(merges, default=(1.0, 0, 0, (), ()))
        if -best[0] < threshold:
            return [group for group in groups if len(group) > 1]
        groups = sorted([group for group in groups if group not in best[3:]] + [tuple(sorted(best[3] + best[4]))])


def test_d8_a_chain_of_links_does_not_glue() -> None:
    chain = {(number, number + 1): 0.9 for number in range(1, 9)}
    assert linked(chain, 0.5) == [(1, 2), (3, 4), (5, 6), (7, 8)]


def test_d8_an_umbrella_joins_one_group_at_most() -> None:
    umbrella = {(1, number): 0.8 for number in range(2, 10)}
    assert linked(umbrella | {(2, 3): 0.9}, 0.5) == [(1, 2, 3)]


@pytest.mark.slow
@given(PAIRS, st.sampled_from([0.1, 0.3, 0.5, 0.9]))
def test_d8_every_two_of_a_group_are_linked_and_no_order_matters(likely: dict[Pair, float], threshold: float) -> None:
    groups = linked(likely, threshold)
    assert all(likely[pair] >= threshold for group in groups for pair in combinations(group, 2))
    members = [number for group in groups for number in group]
    assert len(members) == len(set(members))
    shuffled = list(likely.items())
    random.Random(len(likely)).shuffle(shuffled)
    assert linked(dict(shuffled), threshold) == groups


@pytest.mark.slow
@given(PAIRS, st.sampled_from([0.1, 0.3, 0.5, 0.9]))
def test_d8_it_is_the_definition(likely: dict[Pair, float], threshold: float) -> None:
    assert linked(likely, threshold) == reference(likely, threshold)
