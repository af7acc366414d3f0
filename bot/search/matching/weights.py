"""The learned models, whose weights `doppel train` writes to `weights.json`, and the bounds of their probabilities.

The first model, a softmax over the candidates of one question, orders candidates. The second, a logistic regression,
tells how likely each of the best few is marked as a duplicate; it has other weights if the question's author is
unknown, because issues of one day may then be one person's series. The third tells from that, and from the text model,
how likely a careful reader calls the two the same. The bounds are set by hand, and readings bear each of them out.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.search.index.arrays import Floats, Integers
from bot.search.matching import features, probability
from bot.search.matching.features import SMALL
from bot.search.matching.probability import CALIBRATION, SMALLNESS, TextSimilarity
from bot.text.titles import is_another, is_unfilled, says_another, siblings

ANOTHER_CONFIDENCE = 0.1
"""The most for a title that differs in a number alone, or in one word: it is meant as another issue."""

LITTLE_CONFIDENCE = 0.1
"""The most if one of the two says next to nothing: then they share next to nothing as well."""

NO_MORE_THAN_A_WORD = 0.25
"""A repository of fewer issues than `SMALL` has no background to stand out from. Two issues there that share less than
this part of their words share a common one."""

ANOTHER_SURFACE = -1.6
"""Log-odds of what the labels place on another surface, by the titles that do so: of 211 pairs alike but for a platform
or the like 10 were the same, where 42 were expected (`bot.text.titles.siblings`)."""


Booleans = NDArray[np.bool_]

BOUNDS_VERSION = 5
"""Raise this with every change of these rules, so that answers by earlier rules count as outdated."""

# More than a few copies of one text come from an empty form, unless most came within a week: a form is left empty now
# and then, but what many send at once is one event.
_FEW_COPIES, _AN_EVENT = 2, np.log1p(7.0)
# Title and text are the same word for word (P2); if one person wrote both, or nobody knows, more than a line. Of 35
# such pairs, lines and forms among them, readers call 26 the same.
_WORD_FOR_WORD, _COPY_CONFIDENCE = 0.999, 0.95
# In `length`: a title and a sentence.
_A_LINE = np.log1p(20.0)
# In `length`: two words of a title, or six of a body.
_LITTLE = np.log1p(6.5)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question and its candidates, a row each, ready to be judged.

    `values` is (candidates, features.NAMES); `numbers` and `titles` are the candidates'; `others` marks those that are
    known to be by another author, `apart` those whose labels are of another surface (`bot/text/surfaces.py`). `title`
    is the question's. `total` counts the repository's issues. A `vague` question says nothing; a `signed` one has a
    known author.
    """

    values: Floats
    numbers: Integers
    titles: Sequence[str]
    others: Booleans
    title: str
    total: int
    vague: bool = False
    signed: bool = True
    apart: Booleans | None = None

    def of(self, rows: Integers) -> Comparison:
        """Some of its rows, in this order."""
        return replace(
            self,
            values=self.values[rows],
            numbers=self.numbers[rows],
            titles=[self.titles[row] for row in rows.tolist()],
            others=self.others[rows],
            apart=None if self.apart is None else self.apart[rows],
        )


def bounds(pool: Comparison, read: Booleans) -> tuple[Floats, Floats]:
    """The least and the most that each probability can be; `read` marks candidates that the text model has read.

    Word for word the same is at least .95, whoever wrote it; but an empty form, which people send again and again, is
    at most .1. So is a candidate whose title tells it apart (of 101 such pairs readers call 7 the same), a pair of
    which one says next to nothing (0 of 19), and every candidate of a vague question. In a small repository so is a
    pair that shares only a common word, unless the text model has read it.
    """
    column = {name: pool.values[:, place] for place, name in enumerate(features.NAMES)}
    days = column["days"][column["words_shared"] >= features.COPY]
    few = len(days) <= _FEW_COPIES
    at_once = few | (pool.others & (few or (days < _AN_EVENT).mean() > 0.5))
    little = np.minimum(column["length"], column["length"] + column["shorter"]) < _LITTLE
    little |= pool.vague
    exact = word_for_word(pool.values)
    little |= exact & pool.others & (is_unfilled(pool.title) | ~at_once)
    if pool.total < SMALL:
        shares = np.maximum(column["words_of_question"], column["words_of_candidate"])
        little |= (shares < NO_MORE_THAN_A_WORD) & ~read
    most = np.minimum(np.where(little, LITTLE_CONFIDENCE, 1.0), np.where(_another(pool), ANOTHER_CONFIDENCE, 1.0))
    copied = at_once & exact & (pool.others | (column["length"] >= _A_LINE))
    if pool.apart is not None:
        copied &= ~pool.apart
    least = np.where(copied, _COPY_CONFIDENCE, 0.0)
    return np.minimum(np.where(little, 0.0, least), most), most


def word_for_word(values: Floats) -> Booleans:
    """Which candidates have the question's title and text."""
    shared, titles = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles"))
    return np.asarray(np.minimum(shared, titles) >= _WORD_FOR_WORD, dtype=np.bool_)


def copies(values: Floats) -> Booleans:
    """Which candidates have the question's text.

    Single lines are often the same, as "please add this", "see the log", or the text of a series of tasks. Such a
    candidate is a copy only if it has the title, too.
    """
    shared, titles, length = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles", "length"))
    telling = (length >= _A_LINE) | (titles >= _WORD_FOR_WORD)
    return np.asarray((shared >= features.COPY) & telling, dtype=np.bool_)


def _another(pool: Comparison) -> Booleans:
    """Which candidates are another issue by their titles.

    The same text by another author, under a title with another word, does not count: its author has seen the first, or
    both have copied it from one place.
    """
    another = np.array(siblings(pool.title, pool.titles), dtype=np.bool_) & ~(copies(pool.values) & pool.others)
    if says_another(pool.title):
        another |= np.array([is_another(pool.title, title) for title in pool.titles], dtype=np.bool_)
    return another


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
        return self.calibration(probability.calibration_rows(self.confidence(rows), total))

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Probability:
        """Read both parts. Raises what `Linear.parse` raises."""
        return cls(
            Linear.parse(data["confidence"], probability.CONFIDENCE_NAMES),
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
        likely = probability.bounded_probability(self.by_odds(probability.rows_by_odds(odds)))
        if likeness is not None:
            with_text = probability.rows_with_text(odds[likeness.rows], likeness)
            likely[likeness.rows] = probability.bounded_probability(self.with_text(with_text))
        return likely

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ReaderModel:
        """Read all parts. Raises what `Linear.parse` raises."""
        return cls(
            str(data["text model"]),
            Linear.parse(data["with text"], probability.WITH_TEXT),
            Linear.parse(data["by odds"], probability.BY_ODDS),
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
            Linear.parse(data["ranking"], features.RANKING_NAMES),
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
        scores = self.ranking(features.with_pool_ranks(values))
        # Products of vectors differ in their last digits with the number of threads; equal scores must stay equal.
        order = np.lexsort((pool.numbers, -np.round(scores, _DIGITS)))
        rows = probability.confidence_rows(values[order], scores[order], total)
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
            read_as[pool.apart] = probability.bounded_probability(_log_odds(read_as[pool.apart]) + ANOTHER_SURFACE)
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
