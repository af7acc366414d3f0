"""What the index would have told of an arrival, had it been otherwise: `matching/features.py` of other times, or nobody
known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bot.index.postings.packing import Floats
from bot.matching import features
from bot.training.arrival import Arrival

_AT = {name: place for place, name in enumerate(features.NAMES)}
_TIMES = [_AT[name] for name in ("days", "closed_days", "lived_days")]
# Days that two issues are less than apart, by the feature that says so.
_WITHIN = {"within_a_day": 1, "within_a_week": 7}


def stretched(values: Floats, factor: float) -> Floats:
    """The features of candidates, had everything taken so many times as long."""
    values = values.copy()
    values[:, _TIMES] = np.log1p(np.expm1(values[:, _TIMES]) * factor)
    for name, near in _near(values).items():
        values[:, _AT[name]] *= near
    return values


def shrunk(values: Floats, left: float) -> Floats:
    """The features of candidates where only this part of the time is left (`smaller.Shrink`)."""
    return stretched(values, 1 / left)


def anonymous(arrival: Arrival) -> Arrival:
    """The same arrival, had nobody known who wrote what: all that is close may be one person's series then."""
    values = arrival.values.copy()
    values[:, [_AT["same_author"], _AT["reported"]]] = 0.0
    for name, near in _near(values).items():
        values[:, _AT[name]] = near
    return replace(arrival, values=values)


def _near(values: Floats) -> dict[str, Floats]:
    """Which candidates came so close to the question, by the feature that says so."""
    # Two that are a day or a week apart are not within it, as in `features`; what is rounded must not make them so.
    days = np.expm1(values[:, _AT["days"]]) + 1e-9
    return {name: (days < longest).astype(np.float64) for name, longest in _WITHIN.items()}
