"""The learned models. Their weights are in `weights.json`, which `doppel train` makes; it holds no text.

The first, a softmax over the candidates of one question, orders candidates (`standing.py`). The second, a logistic
regression, tells how likely each of the best few is marked as a duplicate (`confidence.py`). It has other weights when
the question's author is not known: issues of one day may then be one person's series. The third tells from that, and
from the text model, how likely a careful reader calls the two the same (`readings.py`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from bot.search.index.packing import Floats, Integers
from bot.search.matching import confidence, features, readings, standing
from bot.search.matching.bounds import ANOTHER_SURFACE, Comparison, bounds, word_for_word
from bot.search.matching.readings import TextSimilarity
from bot.search.ranking.size import CALIBRATION, SMALLNESS

# An error message names this many features; another kind of file lacks all of them.
_MOST_NAMED = 5

# No learned weight is above ten. With far larger ones sums would become infinite, and their difference no number.
_LARGEST = 1e9


def _bounded(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # This refuses NaN, too.
    if not abs(number) <= _LARGEST:
        raise ValueError(f"{name} is not a number to reckon with")
    return number


#: Keys of the file: the probabilities with and without a known author, and the last step.
KNOWN, UNKNOWN = "known authors", "unknown authors"
READ = "readings"

# Scores that agree to this many decimals are equal.
_DIGITS = 5

TextReader = Callable[[Integers, int], TextSimilarity | None]
"""The text model's answer for a pool: it gets the rows, best first, and how many of them are judged in any case. It may
add others. None without a text model.
"""


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
        """Read one model, with the weights in the order of the features' `names`.

        Raises ValueError if they are for other features, or no usable numbers.
        """
        if other := sorted(set(data["weights"]) ^ set(names)):
            more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
            raise ValueError(f"the weights are for other features: {', '.join(other[:_MOST_NAMED])}{more}")
        weights = np.array([_bounded(data["weights"][name], name) for name in names])
        return cls(weights, _bounded(data["intercept"], "intercept"))


@dataclass(frozen=True, slots=True)
class Predictions:
    """The candidates' scores and confidences, in the order of the pool; `order` has the rows, best first."""

    order: Integers
    scores: Floats
    confidences: Floats


@dataclass(frozen=True, slots=True)
class Probability:
    """How likely the best of a list are marked as duplicates."""

    confidence: Linear
    calibration: Linear

    def __call__(self, rows: Floats, total: int) -> Floats:
        """The log-odds that each row of `confidence.rows` is marked, in a repository of `total` issues."""
        return self.calibration(confidence.calibration_rows(self.confidence(rows), total))

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Probability:
        """Read both parts. Raises what `Linear.parse` raises."""
        return cls(
            Linear.parse(data["confidence"], confidence.CONFIDENCE_NAMES),
            Linear.parse(data["calibration"], (*CALIBRATION, SMALLNESS)),
        )


@dataclass(frozen=True, slots=True)
class ReaderModel:
    """What a careful reader would say; the weights `with_text` hold only for the text model of that name."""

    text_model: str
    with_text: Linear
    by_odds: Linear

    def __call__(self, odds: Floats, likeness: TextSimilarity | None) -> Floats:
        """How likely each candidate is the same report, from its log-odds of being marked and the text model."""
        likely = readings.bounded_probability(self.by_odds(readings.rows_by_odds(odds)))
        if likeness is not None:
            with_text = readings.rows_with_text(odds[likeness.rows], likeness)
            likely[likeness.rows] = readings.bounded_probability(self.with_text(with_text))
        return likely

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ReaderModel:
        """Read all parts. Raises what `Linear.parse` raises."""
        return cls(
            str(data["text model"]),
            Linear.parse(data["with text"], readings.WITH_TEXT),
            Linear.parse(data["by odds"], readings.BY_ODDS),
        )


@dataclass(frozen=True, slots=True)
class Model:
    """All three models; of the second there are two, for `known` authors and for `unknown` ones."""

    ranking: Linear
    known: Probability
    unknown: Probability
    readings: ReaderModel

    @property
    def digest(self) -> str:
        """Sixteen letters that differ for every model and every version of the bounds."""
        parts = (
            self.ranking,
            *(part for one in (self.known, self.unknown) for part in (one.confidence, one.calibration)),
            self.readings.with_text,
            self.readings.by_odds,
        )
        weights = b"".join(part.weights.tobytes() + str(part.intercept).encode() for part in parts)
        return hashlib.sha256(weights + f"{BOUNDS_VERSION} {self.readings.text_model}".encode()).hexdigest()[:16]

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError, KeyError or TypeError for a file of another version."""
        data = json.loads(text)
        return cls(
            Linear.parse(data["ranking"], standing.RANKING_NAMES),
            Probability.parse(data[KNOWN]),
            Probability.parse(data[UNKNOWN]),
            ReaderModel.parse(data[READ]),
        )

    def judge(self, pool: Comparison, reader: TextReader = lambda rows, leaders: None) -> Predictions:
        """Judge a whole pool: the leaders of its order, and what the `reader` adds.

        Candidates with the question's very title and text are one issue that was sent several times. They are all as
        likely as the likeliest of them, open ones first. Among equals the one that ranks higher comes first.
        """
        values, total = pool.values, pool.total
        scores = self.ranking(standing.with_pool_ranks(values))
        # Products of vectors differ in their last digits with the number of threads; equal scores must stay equal.
        order = np.lexsort((pool.numbers, -np.round(scores, _DIGITS)))
        rows = confidence.confidence_rows(values[order], scores[order], total)
        odds = np.full(len(scores), -np.inf)
        odds[order[: len(rows)]] = (self.known if pool.signed else self.unknown)(rows, total)
        likeness = reader(order, len(rows))
        judged, read = (np.zeros(len(scores), dtype=np.bool_) for _ in range(2))
        judged[order[: len(rows)]] = True
        if likeness is not None:
            judged[likeness.rows] = read[likeness.rows] = True
        least, most = bounds(pool.of(np.flatnonzero(judged)), read[judged])
        read_as = self.readings(odds, likeness)
        if pool.apart is not None and pool.apart.any():
            read_as[pool.apart] = readings.bounded_probability(_log_odds(read_as[pool.apart]) + ANOTHER_SURFACE)
        likely = np.minimum(np.round(read_as[judged], _DIGITS), most)
        # A candidate that is not judged is at most as likely as any that is.
        confidences = np.full(len(scores), likely.min(initial=1.0))
        confidences[judged] = np.maximum(likely, least)
        again = word_for_word(values) if pool.apart is None else word_for_word(values) & ~pool.apart
        confidences[again] = confidences[again].max(initial=0.0)
        ahead = order[np.argsort(-confidences[order], kind="stable")]
        closed = 1 - values[:, features.NAMES.index("open")]
        copies = np.lexsort((pool.numbers, closed))
        ahead[again[ahead]] = copies[again[copies]]
        return Predictions(ahead, scores, confidences)


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(np.log(probabilities / (1 - probabilities)), dtype=np.float64)


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(shipped_text())


def shipped_text() -> str:
    """The text of its `weights.json`."""
    return resources.files("bot.search.matching").joinpath("weights.json").read_text(encoding="utf-8")
