"""How likely the first few of each list are, learned from lists in repositories of any size.

What makes a probability hold in small repositories and in large ones is learned after all else. Log-odds are put right
by the size of the repository (`ranking/size.py`), and in a small one lowered besides. By how much is learned last and
by itself, so that nothing about large ones is given up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


#: Candidates of one issue from which the probability is learned: those that a comment shows.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Leaders:
    """The first few of one arrival's list: (leaders, features), and whether each is the same."""

    earlier: int
    rows: Floats
    same: Floats
    stands_for: float


@dataclass(frozen=True, slots=True)
class Probability:
    """How likely the first few are, and what makes that hold in repositories of any size."""

    confidence: Fitted
    calibration: Fitted

    def data(self) -> dict[str, object]:
        """As it is written into a file of weights."""
        return {"confidence": self.confidence.data(), "calibration": self.calibration.data()}


def fit_leaders(
    names: Sequence[str], lists: Sequence[Leaders], small: Sequence[Leaders], l2: float, prior: Mapping[str, float]
) -> Probability:
    """From the features' `names`; `small` are the lists that tell how much less to believe in small repositories."""
    rows, same = np.vstack([one.rows for one in lists]), np.concatenate([one.same for one in lists])
    weight = np.repeat([one.stands_for for one in lists], [len(one.same) for one in lists])
    likely = fit_probability(names, rows, same, weight, l2, prior)
    return Probability(likely, fit_calibration(_firsts(lists, likely), _firsts(small, likely)))


def _firsts(lists: Sequence[Leaders], likely: Fitted) -> Firsts:
    odds = likely.scores(np.array([one.rows[0] for one in lists]).reshape(-1, len(likely.weights)))
    same, weight = np.array([one.same[0] for one in lists]), np.array([one.stands_for for one in lists])
    return Firsts.of(odds, [one.earlier for one in lists], same, weight)
