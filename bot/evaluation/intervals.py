"""How far the figures may be off because there are only so many issues: percentile bootstrap (Efron 1979), Wilson."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.evaluation.metrics import DEPTHS, SHARES, Judged, lowest_cut, split
from bot.likelihood import LEVEL, Interval, wilson

ROUNDS = 1_000


def retrieval_intervals(judged: Sequence[Judged]) -> dict[int, Interval]:
    """For each k the interval that holds RR@k with a probability of LEVEL; empty without duplicates.

    Wilson's, since a bootstrap of duplicates that were all found knows of no other and would be sure.
    """
    queries, _ = split(judged)
    ranks = [one.rank for one in queries]
    found = {k: sum(rank is not None and rank <= k for rank in ranks) for k in DEPTHS}
    return {k: wilson(hits / len(ranks), len(ranks)) for k, hits in found.items() if ranks}


def caught_intervals(judged: Sequence[Judged]) -> dict[float, Interval]:
    """For each share of bothered issues the interval of the share of duplicates caught.

    Both kinds of issues are drawn anew, and the threshold follows from those drawn. Where that says the same each time,
    as it does of duplicates of which none or each one is caught, it is Wilson's. Empty where a kind is missing.
    """
    queries, silent = split(judged)
    if not queries or not silent:
        return {}
    rng = np.random.default_rng(0)
    until = np.array([one.caught_until for one in queries])
    tops = np.array([one.top for one in silent])
    caught: dict[float, list[float]] = {share: [] for share in SHARES}
    for _ in range(ROUNDS):
        repeated = until[rng.integers(len(until), size=len(until))]
        fresh = -np.sort(-tops[rng.integers(len(tops), size=len(tops))])
        for share, values in caught.items():
            # ndarray is a sequence of floats to us, though not to its type.
            values.append(float((repeated >= lowest_cut(fresh, share)).mean()))  # type: ignore[arg-type]
    return {share: _interval(np.array(values), len(until)) for share, values in caught.items()}


def _interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], count: int) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (float(low), float(high)) if low < high else wilson(float(low), count)
