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

from dataclasses import dataclass

import numpy as np

from bot.index.packing import Floats, Integers
from bot.matching import features, standing

#: How much of a smaller repository is made by beginning later, as an exponent of its share of the whole. Chosen by how
#: well probabilities held in two small trackers of which nothing was learned (docs/tried.md).
LATER = 0.25
#: The same where it is only learned how much less to believe in them: nothing is left out by chance.
LATER_ALONE = 1.0

_AT = {name: place for place, name in enumerate(features.NAMES)}
_TIMES = [_AT[name] for name in ("days", "closed_days", "lived_days")]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: (candidates, features.NAMES), which of the issues before it each is, counted back
    from 0, and whether each is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False

    def standings(self) -> Floats:
        return standing.standings(self.values)


def thinned(arrival: Arrival, share: float, rng: np.random.Generator, later: float = LATER) -> Arrival | None:
    """The same arrival in a repository that has this share of the issues; None if what it repeats is not there.

    `later` in [0, 1] is how much of that is made by beginning later: at 0 all is left out by chance, at 1 nothing.
    What it repeats is left out with what came first, and not by chance: the smaller repository is about less.
    """
    left = share**later
    there = arrival.back < arrival.earlier * left
    if arrival.same.any() and not arrival.same[there].any():
        return None
    kept = there & ((rng.random(len(arrival.same)) < share / left) | (arrival.same > 0))
    return Arrival(
        int(arrival.earlier * share),
        stretched(arrival.values[kept], 1 / left),
        arrival.back[kept],
        arrival.same[kept],
        arrival.stands_for,
    )


def stretched(values: Floats, factor: float) -> Floats:
    """The features of candidates, had everything taken so many times as long."""
    values = values.copy()
    values[:, _TIMES] = np.log1p(np.expm1(values[:, _TIMES]) * factor)
    # Two that are a day or a week apart are not within it, as in `features`; what is rounded must not make them so.
    days = np.expm1(values[:, _AT["days"]]) + 1e-9
    for name, longest in (("within_a_day", 1), ("within_a_week", 7)):
        values[:, _AT[name]] *= days < longest
    return values
