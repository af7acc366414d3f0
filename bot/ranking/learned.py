"""How the weights of a linear model are read from a file of learned ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# Names that a message gives; files of another kind differ in all of some eighty.
_MOST_NAMED = 5

# The size of a number in a file. What is learned stays below ten; sums of products of what is far larger end in
# infinity, and the difference of two such is no number.
_LARGEST = 1e9


def read_linear(data: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[float, ...], float]:
    """The weights in the order of the features' `names`, and the intercept.

    Raises ValueError where they are for other features, or not numbers to reckon with.
    """
    if other := sorted(set(data["weights"]) ^ set(names)):
        more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
        raise ValueError(f"the weights are for other features: {', '.join(other[:_MOST_NAMED])}{more}")
    weights, intercept = tuple(_bounded(data["weights"][name], name) for name in names), data["intercept"]
    return weights, _bounded(intercept, "intercept")


def _bounded(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # Of what is not a number this is not so, either.
    if not abs(number) <= _LARGEST:
        raise ValueError(f"{name} is not a number to reckon with")
    return number
