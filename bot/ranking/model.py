"""The learned half of the ranking: logistic models whose weights are data, shipped beside this file.

The first orders candidates (`features.py`), the second says how likely each of the best few is the same issue
(`confidence.py`), and the third puts that right by the size of the repository (`size.py`). `weights.json` says what
they were made from and by which command; `doppel train --for search` makes it. Only weights are in it, no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bot.ranking import confidence, features
from bot.ranking.learned import read_linear
from bot.ranking.size import CALIBRATION, SMALLNESS, calibration


@dataclass(frozen=True, slots=True)
class Logistic:
    """A weight for each feature, and the intercept."""

    weights: tuple[float, ...]
    intercept: float

    def score(self, values: Sequence[float]) -> float:
        """The log-odds."""
        return self.intercept + sum(w * x for w, x in zip(self.weights, values, strict=True))

    def probability(self, values: Sequence[float]) -> float:
        """The probability in (0, 1)."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.score(values)))))

    @classmethod
    def parse(cls, data: Mapping[str, Any], names: Sequence[str]) -> Logistic:
        """Read one model. Raises ValueError as `read_linear` does."""
        return cls(*read_linear(data, names))


@dataclass(frozen=True, slots=True)
class Model:
    """What orders candidates, and what says how far to trust the order."""

    ranking: Logistic
    confidence: Logistic
    calibration: Logistic

    def probability(self, leader: Sequence[float], earlier: int) -> float:
        """How likely one of the best few is the same, in (0, 1): its `confidence.NAMES`, among so many issues."""
        return self.calibration.probability(calibration(self.confidence.score(leader), earlier))

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError, KeyError or TypeError where it is none of this version."""
        data = json.loads(text)
        return cls(
            Logistic.parse(data["ranking"], features.NAMES),
            Logistic.parse(data["confidence"], confidence.NAMES),
            Logistic.parse(data["calibration"], (*CALIBRATION, SMALLNESS)),
        )


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(resources.files("bot.ranking").joinpath("weights.json").read_text(encoding="utf-8"))
