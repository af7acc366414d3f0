"""How far the figures may be off because there are only so many issues: percentile bootstrap (Efron 1979), Wilson."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from bot.evaluation.metrics import DEPTHS, SHARES, Judged, lowest_cut, split

ROUNDS = 1_000
LEVEL = 0.95

Interval = tuple[float, float]


def retrieval_intervals(judged: Sequence[Judged]) -> dict[int, Interval]:
    """For each k the interval that holds RR@k with a probability of LEVEL; empty without duplicates.

    Wilson's, since a bootstrap of duplicates that were all found knows of no other and would be sure.
    """
    queries, _ = split(judged)
    ranks = [one.rank for one in queries]
    found = {k: sum(rank is not None and rank <= k for rank in ranks) for k in DEPTHS}
    return {k: wilson(hits / len(ranks), len(ranks)) for k, hits in found.items() if ranks}


def caught_intervals(judged: Sequence[Judged], seed: int = 0) -> dict[float, Interval]:
    """For each share of bothered issues the interval of the share of duplicates caught.

    Both kinds of issues are drawn anew, and the threshold follows from those drawn. Empty where a kind is missing.
    """
    queries, silent = split(judged)
    if not queries or not silent:
        return {}
    rng = np.random.default_rng(seed)
    until = np.array([one.caught_until for one in queries])
    tops = np.array([one.top for one in silent])
    caught: dict[float, list[float]] = {share: [] for share in SHARES}
    for _ in range(ROUNDS):
        repeated = until[rng.integers(len(until), size=len(until))]
        fresh = -np.sort(-tops[rng.integers(len(tops), size=len(tops))])
        for share, values in caught.items():
            # ndarray is a sequence of floats to us, though not to its type.
            values.append(float((repeated >= lowest_cut(fresh, share)).mean()))  # type: ignore[arg-type]
    return {share: _interval(np.array(values)) for share, values in caught.items()}


def _interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def wilson(share: float, count: float, z: float = 1.96) -> Interval:
    """The interval of a share of `count` (Wilson 1927), at LEVEL; sound also for few, none and all of them.

    `count` may be a sum of weights. One more that is right moves neither bound down, one more that is not neither up.
    """
    if not count:
        return 0.0, 1.0
    middle = share + z * z / (2 * count)
    spread = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    # The share lies between them, which the last digits of none and of all need not say.
    return min(share, max(0.0, (middle - spread) / scale)), max(share, min(1.0, (middle + spread) / scale))
