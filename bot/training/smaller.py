"""Smaller repositories made of a large one, so that what is learned from it holds in them too.

Among two hundred issues the same likeness says more than among twenty thousand. But a small repository is not a large
one of which issues are missing by chance: its series, follow-ups and version bumps are all there, and resemble each
other without being the same. Nor is it a large one's last month: it has had years for its few hundred issues. So some
of what is left out is what came first, the rest is left out by chance, and the times between what is left are stretched
to as long as the whole took.

What is left out by chance parts what was reported together, and so hides from whoever learns how much is alike in a
small repository without being the same. Where nothing is left out by chance nothing is hidden, but little is left that
is far apart. So the weights are learned from the one kind, and how much less to believe in them where there are few
issues from the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.index.postings.packing import Floats, Integers
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


Booleans = NDArray[np.bool_]

#: How much of a smaller repository is made by beginning later, as an exponent of its share of the whole. Chosen by how
#: well probabilities held in two small trackers of which nothing was learned (docs/research/tried.md).
LATER = 0.25
#: The same where it is only learned how much less to believe in them: nothing is left out by chance.
LATER_ALONE = 1.0


#: What is left of a repository's issues when a smaller one is made of it.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)


def of_any_size(arrivals: Sequence[Arrival], seed: int, later: float = LATER) -> Iterator[tuple[int, Arrival]]:
    """The same arrivals in repositories of any size, each with its place among those that are given.

    Those of which no candidate is left teach nothing, and are left out.
    """
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
    """The same arrival in a repository that has this share of the issues; None if what it repeats is not there."""
    kept = what_is_left(arrival.back, arrival.same, arrival.earlier, share, rng, later)
    if kept is None:
        return None
    return replace(
        arrival,
        earlier=int(arrival.earlier * share),
        values=stretched(arrival.values[kept], 1 / share**later),
        back=arrival.back[kept],
        same=arrival.same[kept],
    )


def what_is_left(
    back: Integers, same: Floats, earlier: int, share: float, rng: np.random.Generator, later: float
) -> Booleans | None:
    """Which candidates of an issue are in a repository that has this share of the issues; None if none is the same.

    `back` and `same` are as in `Arrival`. `later` in [0, 1] is how much of the shrinking is made by beginning later: at
    0 all is left out by chance, at 1 nothing. What the issue repeats is left out with what came first, and not by
    chance: the smaller repository is about less.
    """
    left = share**later
    there = back < earlier * left
    if same.any() and not same[there].any():
        return None
    kept: Booleans = there & ((rng.random(len(same)) < share / left) | (same > 0))
    return kept
