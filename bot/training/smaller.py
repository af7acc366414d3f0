"""Smaller repositories made of a large one, so that what is learned from it holds in them too.

Among two hundred issues the same likeness says more than among twenty thousand. But a small repository is not a large
one with issues missing at random: its series, follow-ups and version bumps are all there, and resemble each other
without being the same. Nor is it the last month of a large one: it took years to get its few hundred issues. So some
issues are left out because they came first, the others at random, and the times between those that remain are
stretched to the length of the whole.

Leaving out at random separates issues that were reported together, and hides how much is alike in a small repository
without being the same. Leaving out only the first issues hides nothing, but few of those that remain are far apart. So
the weights are learned from the first kind, and how much less to believe in small repositories from the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bot.index.postings.packing import Floats
from bot.matching import features
from bot.training.arrival import Arrival

_AT = {name: place for place, name in enumerate(features.NAMES)}
_TIMES = [_AT[name] for name in ("days", "closed_days", "lived_days")]
# The features for issues that came within this many days of each other.
_WITHIN = {"within_a_day": 1, "within_a_week": 7}


def stretched(values: Floats, factor: float) -> Floats:
    """The features of candidates if all times were `factor` times as long."""
    values = values.copy()
    values[:, _TIMES] = np.log1p(np.expm1(values[:, _TIMES]) * factor)
    for name, near in _near(values).items():
        values[:, _AT[name]] *= near
    return values


def anonymous(arrival: Arrival) -> Arrival:
    """The arrival if no author were known: issues close in time may then be one person's series."""
    values = arrival.values.copy()
    values[:, [_AT["same_author"], _AT["reported"]]] = 0.0
    for name, near in _near(values).items():
        values[:, _AT[name]] = near
    return replace(arrival, values=values)


def _near(values: Floats) -> dict[str, Floats]:
    """By feature, which candidates came that close to the question."""
    # Exactly a day or a week is not within it, as in `features`; rounding must not change that.
    days = np.expm1(values[:, _AT["days"]]) + 1e-9
    return {name: (days < longest).astype(np.float64) for name, longest in _WITHIN.items()}


#: How much of the shrinking comes from leaving out the first issues, as an exponent of the share. Chosen by how well
#: probabilities held in two small trackers that were not learned from (docs/research/tried.md).
LATER = 0.25
#: All of it: nothing is left out at random.
LATER_ALONE = 1.0

#: The shares of a repository's issues that smaller ones keep.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)


def of_any_size(arrivals: Sequence[Arrival], seed: int, later: float = LATER) -> Iterator[tuple[int, Arrival]]:
    """The arrivals in repositories of any size, each with its place in `arrivals`, if it has any candidate left."""
    repeating = sum(bool(one.same.any()) for one in arrivals)
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng((seed, place))
        smaller = [thinned(arrival, share, rng, later) for arrival in arrivals]
        left = sum(one is not None and bool(one.same.any()) for one in smaller)
        for at, one in enumerate(smaller):
            if one is not None and len(one.same):
                # As many repeat something in small repositories as in large ones.
                more = repeating / left if one.same.any() else 1.0
                yield at, replace(one, stands_for=one.stands_for * more)


def thinned(arrival: Arrival, share: float, rng: np.random.Generator, later: float = LATER) -> Arrival | None:
    """The arrival in a repository that has this share of the issues; None if the issue that it repeats is not there.

    `later` in [0, 1] is how much of the shrinking comes from leaving out the first issues: at 0 all are left out at
    random, at 1 none. The issue that the arrival repeats is never left out at random: a smaller repository is about
    fewer things.
    """
    left = share**later
    there = arrival.back < arrival.earlier * left
    if arrival.same.any() and not arrival.same[there].any():
        return None
    kept = there & ((rng.random(len(arrival.same)) < share / left) | (arrival.same > 0))
    return replace(
        arrival,
        earlier=int(arrival.earlier * share),
        values=stretched(arrival.values[kept], 1 / left),
        back=arrival.back[kept],
        same=arrival.same[kept],
    )
