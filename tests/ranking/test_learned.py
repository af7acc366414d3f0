"""Weights that are none are refused when they are read: they would make every answer nonsense without a word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.matching.model import read_linear


def data(**weights: Any) -> dict[str, Any]:
    return {"weights": weights, "intercept": 0.5}


def test_weights_come_in_the_order_of_the_names() -> None:
    assert read_linear(data(b=2, a=1.5), ("a", "b")) == ((1.5, 2.0), 0.5)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400, "1e308", "-1e10"])
def test_what_cannot_be_reckoned_with_is_named(number: str) -> None:
    with pytest.raises(ValueError, match=r"^a is not"):
        read_linear(data(a=json.loads(number)), ("a",))
    with pytest.raises(ValueError, match=r"^intercept is not"):
        read_linear({"weights": {"a": 1}, "intercept": json.loads(number)}, ("a",))


def test_of_many_other_features_a_few_are_named() -> None:
    with pytest.raises(ValueError, match=r"other features: a, b, c, d, e and 2 more$"):
        read_linear(data(a=1, b=1, c=1, d=1), ("e", "f", "g"))
