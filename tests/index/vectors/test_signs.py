"""Vectors compared by their signs: what is chosen is what plain sorting would choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.index.postings.scoring import add_up, distinct
from bot.index.vectors import neighbours


@given(st.lists(st.integers(0, 70), max_size=80), st.integers(1, 40), st.booleans())
def test_the_nearest_are_the_first_of_a_stable_order(apart: list[int], k: int, long: bool) -> None:
    values = np.array(apart, dtype=np.uint16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_SHORT", 0 if long else 32)
        found = neighbours._nearest(values, 70, k)
    assert sorted(found.tolist()) == sorted(np.argsort(values, kind="stable")[:k].tolist())


def test_signs_are_counted_over_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_TOGETHER", 7)
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(40, 100)).astype(np.float32)
    bits = np.ascontiguousarray(neighbours._bits(vectors).T)
    expected = ((vectors > 0) != (vectors[3] > 0)).sum(axis=1)
    assert neighbours._apart(bits, neighbours._bits(vectors[3])).tolist() == expected.tolist()


@given(
    st.lists(st.tuples(st.integers(1, 40), st.sampled_from([0.5, 1.0, 2.25])), max_size=60),
    st.none() | st.integers(0, 50),
    st.sampled_from([1, 1_000_000]),
)
def test_scores_are_added_up_alike_in_small_and_large_repositories(
    given: list[tuple[int, float]], below: int | None, apart: int
) -> None:
    numbers = np.array([number * apart for number, _ in given], dtype=np.int64)
    found = add_up(numbers, np.array([score for _, score in given]), None if below is None else below * apart, True)
    expected: dict[int, float] = {}
    for number, score in given:
        if below is None or number < below:
            expected[number * apart] = expected.get(number * apart, 0.0) + score
    assert dict(zip(found.numbers.tolist(), found.scores.tolist(), strict=True)) == expected
    assert found.numbers.tolist() == sorted(expected)


@given(st.lists(st.integers(-5, 5)))
def test_distinct_is_each_once_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, dtype=np.int64)).tolist() == sorted(set(values))
