"""How likely the first few of each list are, learned from lists in repositories of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.index.postings.packing import Floats
from bot.training.calibration import Firsts, fit_calibration
from bot.training.fitting import Fitted, fit_probability

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
