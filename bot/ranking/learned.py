"""How the weights of a linear model are read from a file of learned ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

# Names that a message gives; files of another kind differ in all of some eighty.
_MOST_NAMED = 5


def read_linear(data: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[float, ...], float]:
    """The weights in the order of the features' `names`, and the intercept.

    Raises ValueError where they are for other features, or not numbers to reckon with.
    """
    if other := sorted(set(data["weights"]) ^ set(names)):
        more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
        raise ValueError(f"the weights are for other features: {', '.join(other[:_MOST_NAMED])}{more}")
    weights, intercept = tuple(_finite(data["weights"][name], name) for name in names), data["intercept"]
    return weights, _finite(intercept, "intercept")


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is not a number to reckon with")
    return number
