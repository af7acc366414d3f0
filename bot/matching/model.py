"""The learned part: small models whose weights are data, shipped beside this file.

The first orders candidates (`standing.py`), a softmax over the candidates of one question. The second says how likely
each of the best few is the same issue (`confidence.py`), a logistic regression. There are two of that: where nobody
knows who asks, what comes within a day may be one person's series, and is less likely the same. `weights.json` says
what they were made from and by which command; `doppel train` makes it. Only weights are in it, no text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from bot.index.postings.packing import Floats, Integers
from bot.matching import confidence, features, standing
from bot.matching.bounds import VERSION, Compared, bounds, doubted, word_for_word
from bot.ranking.learned import read_linear
from bot.ranking.size import CALIBRATION, SMALLNESS

#: What the probabilities are called in the file: of questions whose author is known, and of others.
KNOWN, UNKNOWN = "known authors", "unknown authors"

# Scores that agree to so many decimals are equal.
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Linear:
    """A weight for each feature, and the intercept."""

    weights: Floats
    intercept: float

    def __call__(self, rows: Floats) -> Floats:
        """The log-odds of each row."""
        return np.asarray(rows @ self.weights + self.intercept, dtype=np.float64)

    @classmethod
    def parse(cls, data: Mapping[str, Any], names: Sequence[str]) -> Linear:
        """Read one model. Raises ValueError as `read_linear` does."""
        weights, intercept = read_linear(data, names)
        return cls(np.array(weights), intercept)


@dataclass(frozen=True, slots=True)
class Judged:
    """Candidates in the order in which they were given, and their `order`: the rows, best first."""

    order: Integers
    scores: Floats
    confidences: Floats


@dataclass(frozen=True, slots=True)
class Probability:
    """What says how far to trust an order."""

    confidence: Linear
    calibration: Linear

    def __call__(self, rows: Floats, total: int) -> Floats:
        """How likely each row of `confidence.rows` is, in a repository of so many issues."""
        odds = self.calibration(confidence.calibration(self.confidence(rows), total))
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), dtype=np.float64)

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Probability:
        """Read both parts of one. Raises as `Linear.parse` does."""
        return cls(
            Linear.parse(data["confidence"], confidence.NAMES),
            Linear.parse(data["calibration"], (*CALIBRATION, SMALLNESS)),
        )


@dataclass(frozen=True, slots=True)
class Model:
    """What orders candidates, and what says how far to trust the order where the question's author is known or not."""

    ranking: Linear
    known: Probability
    unknown: Probability

    @property
    def digest(self) -> str:
        """Sixteen letters that tell it from every other model, and from itself by other rules set by hand."""
        parts = (
            self.ranking,
            *(part for one in (self.known, self.unknown) for part in (one.confidence, one.calibration)),
        )
        weights = b"".join(part.weights.tobytes() + str(part.intercept).encode() for part in parts)
        return hashlib.sha256(weights + str(VERSION).encode()).hexdigest()[:16]

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError, KeyError or TypeError where it is none of this version."""
        data = json.loads(text)
        return cls(
            Linear.parse(data["ranking"], standing.NAMES),
            Probability.parse(data[KNOWN]),
            Probability.parse(data[UNKNOWN]),
        )

    def judge(self, pool: Compared) -> Judged:
        """Judge a whole pool. Of equals the older comes first. Who ranks lower is never called likelier.

        What has the question's very title and text is one thing that was sent several times: as likely as the likeliest
        of them, those that are open first.
        """
        values, total = pool.values, pool.total
        scores = self.ranking(standing.standings(values))
        # Products of vectors differ in their last digits from one number of threads to another; equals stay equals.
        order = np.lexsort((pool.numbers, -np.round(scores, _DIGITS)))
        rows = confidence.rows(values[order], scores[order], total)
        leaders = order[: len(rows)]
        probability = self.known if pool.signed else self.unknown
        likely = doubted(np.minimum.accumulate(probability(rows, total)))
        least, most = bounds(pool.of(leaders))
        # What comes after the leaders is at most as likely, and nothing raises it.
        confidences = np.full(len(scores), np.minimum(likely, most).min(initial=1.0))
        confidences[leaders] = np.minimum(np.maximum(likely, least), most)
        again = word_for_word(values)
        confidences[again] = confidences[again].max(initial=0.0)
        # What was raised or lowered takes its new place.
        ahead = order[np.argsort(-confidences[order], kind="stable")]
        closed = 1 - values[:, features.NAMES.index("open")]
        copies = np.lexsort((pool.numbers, closed))
        ahead[again[ahead]] = copies[again[copies]]
        return Judged(ahead, scores, confidences)


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8"))
