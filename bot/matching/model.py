"""The learned part: small models whose weights are data, shipped beside this file.

The first orders candidates (`standing.py`), a softmax over the candidates of one question. The second says how likely
each of the best few gets marked as a duplicate (`confidence.py`), a logistic regression. There are two of that: where
nobody knows who asks, what comes within a day may be one person's series, and is less likely the same. The third makes
of it, and of what the text model sees, how likely a careful reader calls them the same (`readings.py`). `weights.json`
says what they were made from and by which command; `doppel train` makes it. Only weights are in it, no text.
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

from bot.index.postings.packing import Floats, Integers
from bot.matching import confidence, features, readings, standing
from bot.matching.bounds import ANOTHER_SURFACE, VERSION, Compared, bounds, word_for_word
from bot.matching.readings import Likeness
from bot.ranking.size import CALIBRATION, SMALLNESS

# Names that a message gives; files of another kind differ in all of some eighty.
_MOST_NAMED = 5

# The size of a number in a file. What is learned stays below ten; sums of products of what is far larger end in
# infinity, and the difference of two such is no number.
_LARGEST = 1e9


def read_linear(data: Mapping[str, Any], names: Sequence[str]) -> tuple[tuple[float, ...], float]:
    """The weights in the order of the features' `names`, and the intercept.

    Raises ValueError where they are for other features, or not numbers to reckon with.
    """
    if other := sorted(set(data["weights"]) ^ set(names)):
        more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
        raise ValueError(f"the weights are for other features: {', '.join(other[:_MOST_NAMED])}{more}")
    weights, intercept = tuple(_bounded(data["weights"][name], name) for name in names), data["intercept"]
    return weights, _bounded(intercept, "intercept")


def _bounded(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # Of what is not a number this is not so, either.
    if not abs(number) <= _LARGEST:
        raise ValueError(f"{name} is not a number to reckon with")
    return number


#: What the probabilities are called in the file: of questions whose author is known, and of others.
KNOWN, UNKNOWN = "known authors", "unknown authors"

#: What the file calls what careful readers would say.
READ = "readings"

# Scores that agree to so many decimals are equal.
_DIGITS = 5

Reader = Callable[[Integers, int], Likeness | None]
"""What the text model says of the rows of a pool, which are given best first, and how many of them are to be judged
whatever it says. It may add others; None where there is no text model.
"""


def _unread(rows: Integers, leaders: int) -> None:
    """Without a text model."""


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
        """The log-odds that each row of `confidence.rows` gets marked, in a repository of so many issues."""
        return self.calibration(confidence.calibration(self.confidence(rows), total))

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Probability:
        """Read both parts of one. Raises as `Linear.parse` does."""
        return cls(
            Linear.parse(data["confidence"], confidence.NAMES),
            Linear.parse(data["calibration"], (*CALIBRATION, SMALLNESS)),
        )


@dataclass(frozen=True, slots=True)
class Readings:
    """What a careful reader would say; `with_text` holds for the vectors of the text model of that name alone."""

    text_model: str
    with_text: Linear
    by_odds: Linear

    def __call__(self, odds: Floats, likeness: Likeness | None) -> Floats:
        """How likely each candidate is the same report, by log-odds of being marked, and by the text model where it
        was asked about it.
        """
        likely = readings.probability(self.by_odds(readings.rows_by_odds(odds)))
        if likeness is not None:
            with_text = readings.rows_with_text(odds[likeness.rows], likeness)
            likely[likeness.rows] = readings.probability(self.with_text(with_text))
        return likely

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Readings:
        """Read all of it. Raises as `Linear.parse` does."""
        return cls(
            str(data["text model"]),
            Linear.parse(data["with text"], readings.WITH_TEXT),
            Linear.parse(data["by odds"], readings.BY_ODDS),
        )


@dataclass(frozen=True, slots=True)
class Model:
    """What orders candidates, how likely each of the best is marked, and how likely a reader calls it the same.

    The second differs by whether the question's author is known.
    """

    ranking: Linear
    known: Probability
    unknown: Probability
    readings: Readings

    @property
    def digest(self) -> str:
        """Sixteen letters that tell it from every other model, and from itself by other rules set by hand."""
        parts = (
            self.ranking,
            *(part for one in (self.known, self.unknown) for part in (one.confidence, one.calibration)),
            self.readings.with_text,
            self.readings.by_odds,
        )
        weights = b"".join(part.weights.tobytes() + str(part.intercept).encode() for part in parts)
        return hashlib.sha256(weights + f"{VERSION} {self.readings.text_model}".encode()).hexdigest()[:16]

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError, KeyError or TypeError where it is none of this version."""
        data = json.loads(text)
        return cls(
            Linear.parse(data["ranking"], standing.NAMES),
            Probability.parse(data[KNOWN]),
            Probability.parse(data[UNKNOWN]),
            Readings.parse(data[READ]),
        )

    def judge(self, pool: Compared, reader: Reader = _unread) -> Judged:
        """Judge a whole pool: the leaders of its order, and what the `reader` adds to them.

        What has the question's very title and text is one thing that was sent several times: as likely as the likeliest
        of them, those that are open first. Of equals the one that ranks higher comes first.
        """
        values, total = pool.values, pool.total
        scores = self.ranking(standing.standings(values))
        # Products of vectors differ in their last digits from one number of threads to another; equals stay equals.
        order = np.lexsort((pool.numbers, -np.round(scores, _DIGITS)))
        rows = confidence.rows(values[order], scores[order], total)
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
            read_as[pool.apart] = readings.probability(_log_odds(read_as[pool.apart]) + ANOTHER_SURFACE)
        likely = np.minimum(np.round(read_as[judged], _DIGITS), most)
        # What is not judged is at most as likely as each that is, and nothing raises it.
        confidences = np.full(len(scores), likely.min(initial=1.0))
        confidences[judged] = np.maximum(likely, least)
        again = word_for_word(values) if pool.apart is None else word_for_word(values) & ~pool.apart
        confidences[again] = confidences[again].max(initial=0.0)
        ahead = order[np.argsort(-confidences[order], kind="stable")]
        closed = 1 - values[:, features.NAMES.index("open")]
        copies = np.lexsort((pool.numbers, closed))
        ahead[again[ahead]] = copies[again[copies]]
        return Judged(ahead, scores, confidences)


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(np.log(probabilities / (1 - probabilities)), dtype=np.float64)


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(_shipped())


def shipped_data() -> dict[str, Any]:
    """What is in its file."""
    data: dict[str, Any] = json.loads(_shipped())
    return data


def _shipped() -> str:
    return resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8")
