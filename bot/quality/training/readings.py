"""Learns the last step of the model (`bot/search/matching/probability.py`) from what careful readers said (P1).

A file of readings has a line for each arrival that was read: `{"id", "weight", "verdicts": {CANDIDATE: VERDICT}}`. A
verdict is `same`, `related` or `different`; `weight` is how many arrivals this one stands for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.domain.errors import UserError
from bot.quality.training.fitting import Fitted, fit_probability
from bot.search.index.arrays import Floats
from bot.search.matching import probability
from bot.search.matching.probability import TextSimilarity

#: How strongly weights are drawn to 0; there are three of them, and thousands of pairs.
L2_READINGS = 1.0

_VERDICTS = ("same", "related", "different")


@dataclass(frozen=True, slots=True)
class Reading:
    """What readers said of one arrival: whether each candidate, by its id in the file, is the same."""

    weight: float
    same: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Read:
    """The candidates of an arrival that were read: whether each is the `same`, and their `likeness` by the text model.

    `weight` is how many arrivals this one stands for, `signed` whether its author is known. `small` marks an arrival in
    a repository that was made for training, where marks take the place of readers.
    """

    same: Floats
    likeness: TextSimilarity
    weight: float
    signed: bool
    small: bool = False


def read_readings(path: Path) -> dict[str, Reading]:
    """Readings by the arrival's id, as text. Raises UserError naming a line that is no reading."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            verdicts, weight = {str(id): said for id, said in row["verdicts"].items()}, float(row["weight"])
            if weight <= 0 or not set(verdicts.values()) <= set(_VERDICTS):
                raise ValueError(f"a weight is above 0, and a verdict one of {', '.join(_VERDICTS)}")
            found[str(row["id"])] = Reading(weight, {id: said == "same" for id, said in verdicts.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            wanted = '{"id": …, "weight": 1.0, "verdicts": {"CANDIDATE": "same"}}'
            raise UserError(f"{path}:{number}: this is no reading such as {wanted}: {problem}") from None
    if not found:
        raise UserError(f"{path}: there is no reading in it")
    return found


def fit_readings(odds: Sequence[Floats], reads: Sequence[Read]) -> tuple[Fitted, Fitted]:
    """Fit the step with the text model and without it; `odds` are the log-odds of being marked, for each arrival.

    The step without the text model leaves out small repositories, where word counts tell too little.
    """

    def fit(names: Sequence[str], rows: Sequence[Floats], said: Sequence[Read]) -> Fitted:
        same = np.concatenate([one.same for one in said])
        weight = np.concatenate([np.full(len(one.same), one.weight) for one in said])
        return fit_probability(names, np.concatenate(rows), same, weight / weight.mean(), L2_READINGS, {})

    with_text = [probability.rows_with_text(own, one.likeness) for own, one in zip(odds, reads, strict=True)]
    by_odds = [probability.rows_by_odds(own) for own, one in zip(odds, reads, strict=True) if not one.small]
    return (
        fit(probability.WITH_TEXT, with_text, reads),
        fit(probability.BY_ODDS, by_odds, [one for one in reads if not one.small]),
    )
