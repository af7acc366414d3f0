"""Smaller repositories that are made of large ones, from which a probability is learned that holds in them too."""

from __future__ import annotations

import numpy as np
import pytest

from bot.quality.training.arrivals import Arrival
from bot.quality.training.learning import LATER, SHARES, ordered, orders_of, stretched, thinned
from bot.search.matching import features


def arrival(earlier: int, back: list[int], same: list[int], stands_for: float = 1.0) -> Arrival:
    """An arrival whose candidates came so many issues before it."""
    values = np.random.default_rng(len(back)).random((len(back), len(features.NAMES)))
    return Arrival(earlier, values, np.array(back), np.array(same, dtype=np.float64), stands_for)


def test_what_came_last_stays_together_but_for_chance() -> None:
    one = arrival(10_000, list(range(0, 10_000, 50)), [0] * 200)
    smaller = thinned(one, 0.01, np.random.default_rng(1))
    assert smaller is not None
    assert smaller.earlier == 100
    first = 10_000 * 0.01**LATER
    assert len(smaller.back) < 10, "of two hundred about two"
    assert smaller.back.max() < first
    everything = [thinned(one, 0.01, np.random.default_rng(seed)) for seed in range(200)]
    assert max(int(each.back.max(initial=0)) for each in everything if each is not None) > 0.9 * first


def test_what_it_repeats_is_left_out_with_the_past_and_not_by_chance() -> None:
    recent, old = arrival(10_000, [900, 5_000], [1, 0]), arrival(10_000, [900, 5_000], [0, 1])
    for seed in range(50):
        smaller = thinned(recent, 0.01, np.random.default_rng(seed))
        assert smaller is not None
        assert smaller.same.tolist() == [1.0]
        assert thinned(old, 0.01, np.random.default_rng(seed)) is None


def test_its_issues_are_as_far_apart_as_if_they_had_taken_as_long() -> None:
    at = features.NAMES.index
    one = arrival(10_000, [5, 40], [1, 0])
    one.values[:, at("days")] = np.log1p([0.5, 3.0])
    one.values[:, at("closed_days")] = np.log1p([0.0, 2.0])
    one.values[:, at("within_a_day")] = [1, 0]
    one.values[:, at("within_a_week")] = [1, 1]
    before = one.values.copy()
    values = stretched(one.values, 4)
    assert np.expm1(values[:, at("days")]).tolist() == pytest.approx([2, 12])
    assert np.expm1(values[:, at("closed_days")]).tolist() == pytest.approx([0, 8])
    assert values[:, at("within_a_day")].tolist() == [0, 0]
    assert values[:, at("within_a_week")].tolist() == [1, 0]
    others = [place for place, name in enumerate(features.NAMES) if "days" not in name and "within" not in name]
    assert (values[:, others] == one.values[:, others]).all()
    assert (one.values == before).all(), "the whole repository stays as it is"
    kept = thinned(one, 4 ** (-1 / LATER), np.random.default_rng(0))
    assert kept is not None
    assert kept.values[0].tolist() == pytest.approx(values[0].tolist())


def test_as_many_repeat_something_in_small_repositories_as_in_large_ones() -> None:
    """Else a probability learned from them would say that small repositories have hardly any duplicates."""
    near = [arrival(10_000, [5, 200, 4_000], [1, 0, 0]) for _ in range(6)]
    far = [arrival(10_000, [9_990, 300, 20], [1, 0, 0]) for _ in range(6)]
    fresh = [arrival(10_000, [5, 10, 15], [0, 0, 0], stands_for=8.0) for _ in range(12)]
    weights: dict[int, float] = {}
    arrivals = [*near, *far, *fresh]
    for one in ordered(arrivals, orders_of(arrivals, 0), seed=0):
        if one.same.any():
            weights[one.earlier] = weights.get(one.earlier, 0.0) + one.stands_for
    assert sorted(weights) == sorted(int(10_000 * share) for share in SHARES)
    assert list(weights.values()) == pytest.approx([12.0] * len(SHARES))
