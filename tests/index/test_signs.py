"""Vectors compared by their signs: what is chosen is what plain sorting would choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.index import neighbours
from bot.index.scoring import distinct


@given(st.lists(st.integers(0, 70), max_size=80), st.integers(1, 40), st.booleans())
def test_the_nearest_are_the_first_of_a_stable_order(apart: list[int], k: int, long: bool) -> None:
    values = np.array(apart, dtype=np.uint16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_SHORT_ROW", 0 if long else 16)
        found = neighbours._nearest(values, k)
    assert sorted(found.tolist()) == sorted(np.argsort(values, kind="stable")[:k].tolist())


def test_signs_are_counted_over_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_TOGETHER", 7)
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(40, 100)).astype(np.float32)
    bits = np.ascontiguousarray(neighbours._bits(vectors).T)
    expected = ((vectors > 0) != (vectors[3] > 0)).sum(axis=1)
    assert neighbours._apart(bits, neighbours._bits(vectors[3])).tolist() == expected.tolist()


@given(st.lists(st.integers(-5, 5)))
def test_distinct_is_each_once_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, dtype=np.int64)).tolist() == sorted(set(values))
