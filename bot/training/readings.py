"""Learning from what careful readers said (P1): the last step of the model, `bot/matching/readings.py`.

A file of readings has a line for each arrival that was read: `{"id", "weight", "verdicts": {CANDIDATE: VERDICT}}`,
where a verdict is `same`, `related` or `different`, and `weight` is how many arrivals it stands for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.errors import UserError
from bot.index.postings.packing import Floats
from bot.matching import readings
from bot.matching.readings import Likeness
from bot.training.fitting import Fitted, fit_probability

#: How strongly weights are drawn to 0; there are three of them, and thousands of pairs.
L2_READINGS = 1.0

_VERDICTS = ("same", "related", "different")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was said of one arrival: whether each candidate, by the file's id, is the same."""

    weight: float
    same: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Read:
    """The candidates of an arrival of which it is known whether they are the `same`, and what the text model says of
    these rows. `weight` is how many arrivals this stands for; `signed` is whether its author is known. `small` is one
    in a repository that was made for it (`small.py`), where marks take the place of readers.
    """

    same: Floats
    likeness: Likeness
    weight: float
    signed: bool
    small: bool = False


def read_readings(path: Path) -> dict[str, Reading]:
    """By the arrival's id, as text. Raises UserError naming the line that is none."""
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
    """With the text model and without, from log-odds of being marked, an array for each arrival.

    Without the text model only what was read counts: nothing tells one rare word from another in small repositories.
    """

    def fit(names: Sequence[str], rows: Sequence[Floats], said: Sequence[Read]) -> Fitted:
        same = np.concatenate([one.same for one in said])
        weight = np.concatenate([np.full(len(one.same), one.weight) for one in said])
        return fit_probability(names, np.concatenate(rows), same, weight / weight.mean(), L2_READINGS, {})

    with_text = [readings.rows_with_text(own, one.likeness) for own, one in zip(odds, reads, strict=True)]
    by_odds = [readings.rows_by_odds(own) for own, one in zip(odds, reads, strict=True) if not one.small]
    return (
        fit(readings.WITH_TEXT, with_text, reads),
        fit(readings.BY_ODDS, by_odds, [one for one in reads if not one.small]),
    )
