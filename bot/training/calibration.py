"""What makes a probability hold in small repositories and in large ones, learned after all else.

Log-odds are put right by the size of the repository (`ranking/size.py`), and in a small one lowered besides. By how
much is learned last and by itself, so that nothing about large ones is given up for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.index.postings.packing import Floats
from bot.ranking.size import CALIBRATION, SMALLNESS, calibration
from bot.training.fitting import Fitted, fit_factor, fit_probability

L2_CALIBRATION = 1.0


@dataclass(frozen=True, slots=True)
class Firsts:
    """The first candidates of lists: (lists, CALIBRATION and SMALLNESS), whether each is the same, and for how many
    issues its list stands.
    """

    rows: Floats
    same: Floats
    weight: Floats

    @classmethod
    def of(cls, odds: Floats, earlier: Sequence[int], same: Floats, weight: Floats) -> Firsts:
        """From their log-odds, and how many issues there were before each question."""
        rows = [calibration(*one) for one in zip(odds.tolist(), earlier, strict=True)]
        return cls(np.array(rows).reshape(len(rows), len(CALIBRATION) + 1), same, weight)


def fit_calibration(firsts: Firsts, small: Firsts) -> Fitted:
    """What log-odds are put right by; `small` has the lists of small repositories, from which that about them comes."""
    right = fit_probability(CALIBRATION, firsts.rows[:, :-1], firsts.same, firsts.weight, L2_CALIBRATION, {"odds": 1.0})
    return Fitted({**right.weights, SMALLNESS: smallness_of(small, right)}, right.intercept)


def smallness_of(firsts: Firsts, right: Fitted) -> float:
    """What log-odds change by for each unit of `size.smallness`; never above 0, and 0 without small repositories.

    Small ones are judged with more care than large ones, and never with less.
    """
    small = firsts.rows[:, -1] > 0
    if not small.any():
        return 0.0
    rows = firsts.rows[small]
    odds = right.scores(rows[:, :-1])
    return min(0.0, fit_factor(rows[:, -1], odds, firsts.same[small], firsts.weight[small], L2_CALIBRATION))
