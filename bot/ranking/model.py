"""The learned half of the ranking: a logistic model whose weights are data, shipped beside this file.

`weights.json` says what it was made from and by which command; `bot/training.py` makes it. Only weights are in it, no
text. The model gives the probability that a candidate is the same issue as the target, among all the candidates that
the searches bring up, at the share of duplicates that the training projects had.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from bot.ranking.features import NAMES


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of the features, in the order of `features.NAMES`, and the intercept."""

    weights: tuple[float, ...]
    intercept: float

    def __post_init__(self) -> None:
        if len(self.weights) != len(NAMES):
            raise ValueError(f"weights: {len(self.weights)} for {len(NAMES)} features")

    def probability(self, features: Sequence[float]) -> float:
        """The probability in (0, 1) that the two are the same issue."""
        evidence = self.intercept + sum(w * x for w, x in zip(self.weights, features, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, evidence))))

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError where it was made for other features than this version has."""
        data = json.loads(text)
        if set(data["weights"]) != set(NAMES):
            raise ValueError(f"the weights are for other features: {sorted(set(data['weights']) ^ set(NAMES))}")
        return cls(tuple(float(data["weights"][name]) for name in NAMES), float(data["intercept"]))


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(resources.files("bot.ranking").joinpath("weights.json").read_text(encoding="utf-8"))
