"""The weights that are shipped, as a model."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.index.arrays import Floats
from bot.search.matching import Model
from bot.search.matching.probability import non_increasing
from bot.search.matching.weights import BOUNDS_VERSION, KNOWN, UNKNOWN, Linear, shipped_model


@pytest.fixture
def data() -> dict[str, Any]:
    text = resources.files("bot.search.matching").joinpath("weights.json").read_text(encoding="utf-8")
    given: dict[str, Any] = json.loads(text)
    return given


PARTS = (("ranking",), *((who, what) for who in (KNOWN, UNKNOWN) for what in ("confidence", "calibration")))


@pytest.mark.parametrize("path", PARTS)
@pytest.mark.parametrize("spoil", [lambda one: one.update(intercept=9.0), lambda one: one["weights"].popitem()])
def test_a_part_that_differs_makes_another_model_and_one_that_lacks_a_feature_none(
    path: tuple[str, ...], spoil: Any, data: dict[str, Any]
) -> None:
    """What was answered by one model is outdated by another (D8)."""
    before = Model.parse(json.dumps(data)).digest
    part = data
    for name in path:
        part = part[name]
    spoil(part)
    if part["intercept"] == 9.0:
        assert Model.parse(json.dumps(data)).digest != before
    else:
        with pytest.raises(ValueError, match="the weights are for other features"):
            Model.parse(json.dumps(data))


@pytest.mark.parametrize("name", ["ranking", KNOWN, UNKNOWN])
def test_weights_of_before_are_none_of_this_version(name: str, data: dict[str, Any]) -> None:
    del data[name]
    with pytest.raises(KeyError):
        Model.parse(json.dumps(data))


def test_answers_by_other_rules_are_those_of_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan that goes on asks again what was answered by the rules of before (D8)."""
    model = shipped_model()
    before = model.digest
    monkeypatch.setattr("bot.search.matching.weights.BOUNDS_VERSION", BOUNDS_VERSION + 1)
    assert model.digest != before


def linear(**weights: Any) -> dict[str, Any]:
    return {"weights": weights, "intercept": 0.5}


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_what_cannot_be_reckoned_with_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="not all numbers"):
        Linear.parse(linear(a=json.loads(number)), ("a",))
    with pytest.raises(ValueError, match="not all numbers"):
        Linear.parse({"weights": {"a": 1}, "intercept": json.loads(number)}, ("a",))


def test_of_many_other_features_a_few_are_named() -> None:
    with pytest.raises(ValueError, match=r"other features: a, b, c, d, e and 2 more$"):
        Linear.parse(linear(a=1, b=1, c=1, d=1), ("e", "f", "g"))


@given(st.lists(st.floats(0.0, 0.1), min_size=1, max_size=30).map(np.array))
def test_unlikely_candidates_are_as_likely_together_as_before(found: Floats) -> None:
    """P1: their order comes from elsewhere, and their probabilities fall in it."""
    fallen = non_increasing(found)
    assert (np.diff(fallen) <= 0).all()
    assert fallen.sum() == pytest.approx(found.sum())
    assert non_increasing(fallen) == pytest.approx(fallen)
