"""The learned models, whose weights `doppel train` writes to `weights.json`, and the bounds of their probabilities.

The question is the issue for which duplicates are sought. The first model, a softmax, sorts its candidates. The second
model, a logistic regression, computes how likely people are to mark each of the best few (the leaders) as a duplicate.
If the author is unknown, issues of one day may be one person's series, so such questions have weights of their own. The
third model uses the second model's result and the text model's cosine. It computes how likely a careful reader is to
call both issues the same (`probability.py`). The bounds are set by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.domain.likelihood import POSSIBLY
from bot.search.index.arrays import Floats, Integers
from bot.search.matching import features, probability
from bot.search.matching.features import SMALL
from bot.search.matching.probability import CALIBRATION, SMALLNESS, TextSimilarity
from bot.text.titles import is_unfilled, numbered_apart, siblings

ANOTHER_TITLE_CONFIDENCE = 0.1
"""The upper bound if the titles differ only in a number, or in one place: the author means another issue."""

LITTLE_CONFIDENCE = 0.1
"""The upper bound if one of the two issues says next to nothing, because they then share next to nothing."""

NO_MORE_THAN_A_WORD = 0.25
"""A repository of fewer than `SMALL` issues does not show which words are rare. If two of its
issues share less than this part of their words, they count as sharing only a common word."""

ANOTHER_SURFACE_LOG_ODDS = -1.6
"""Added to the log-odds if the labels name different surfaces (`cli`, `vscode`). The value comes from 211 pairs
whose titles differ only in a platform or the like (`siblings`): the model expected 42 duplicates, only 10 were real."""

Booleans = NDArray[np.bool_]

BOUNDS_VERSION = 6
"""Raise this number with each change of a bound or formula here or in `probability.py`, to outdate stored answers."""

# If a question has more than `_FEW_COPIES` copies, all are taken for an empty form that people send now and then.
# But if most copies were sent within a week of the question, they are taken for reports of one event.
_FEW_COPIES, _EVENT_DAYS = 2, np.log1p(7.0)
# From the similarity _WORD_FOR_WORD on, title and text are the same word for word (P2). Such
# pairs get at least _COPY_CONFIDENCE. `bounds` makes exceptions, as readers call only 26 of all 35 pairs the same.
_WORD_FOR_WORD, _COPY_CONFIDENCE = 0.999, 0.95
# The feature `length` of an issue that has a title and one sentence.
_LINE_LENGTH = np.log1p(20.0)
# A text whose feature `length` is below this has at most six words. A word of the title counts as three words.
_LITTLE_LENGTH = np.log1p(6.5)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question and its candidates, one row for each candidate.

    `values` is (candidates, features.NAMES). `numbers` and `titles` belong to the candidates. `others` marks candidates
    that are known to be by another author than the question. `apart` marks candidates whose labels name another surface
    (`bot/text/surfaces.py`). `title` is the question's title. `total` counts the repository's issues. The question is
    `vague` if no word says what it is about, and `signed` if its author is known.
    """

    values: Floats
    numbers: Integers
    titles: Sequence[str]
    others: Booleans
    title: str
    total: int
    apart: Booleans
    vague: bool = False
    signed: bool = True

    def of(self, rows: Integers) -> Comparison:
        """The comparison of only these rows, in this order."""
        return replace(
            self,
            values=self.values[rows],
            numbers=self.numbers[rows],
            titles=[self.titles[row] for row in rows.tolist()],
            others=self.others[rows],
            apart=self.apart[rows],
        )


def bounds(pool: Comparison, read: Booleans) -> tuple[Floats, Floats]:
    """The lower and upper bound of each probability; `read` marks candidates that the text model has read.

    A word-for-word copy gets at least .95. Exceptions: a possible empty form, a line that one person may repeat, and a
    copy whose labels name another surface. The following get at most .1:

    - an empty form by another author: people send it again and again;
    - a candidate whose title marks it as another issue (of 101 such pairs, readers call 7 the same);
    - a pair in which one issue says next to nothing (of 19 such pairs, readers call none the same);
    - every candidate of a vague question;
    - in a repository of fewer than `SMALL` issues, a pair that shares only a common word, unless `read` marks it.
    """
    column = {name: pool.values[:, at] for at, name in enumerate(features.NAMES)}
    days_of_copies = column["days"][column["words_shared"] >= features.COPY]
    few = len(days_of_copies) <= _FEW_COPIES
    one_event = not few and bool((days_of_copies < _EVENT_DAYS).mean() > 0.5)
    # Copies are genuine, and not an empty form, if they are few, or if other authors report one event.
    genuine = few | (pool.others & one_event)
    # `shorter` is the question's `length` minus the candidate's.
    question_length = column["length"] + column["shorter"]
    says_little = np.minimum(column["length"], question_length) < _LITTLE_LENGTH
    exact = word_for_word(pool.values)
    empty_form = exact & pool.others & (is_unfilled(pool.title) | ~genuine)
    little = says_little | empty_form | pool.vague
    if pool.total < SMALL:
        shares = np.maximum(column["words_of_question"], column["words_of_candidate"])
        little |= (shares < NO_MORE_THAN_A_WORD) & ~read
    most_by_title = np.where(_has_another_title(pool), ANOTHER_TITLE_CONFIDENCE, 1.0)
    most = np.minimum(np.where(little, LITTLE_CONFIDENCE, 1.0), most_by_title)
    copied = genuine & exact & (pool.others | (column["length"] >= _LINE_LENGTH)) & ~pool.apart
    least = np.where(copied, _COPY_CONFIDENCE, 0.0)
    return np.minimum(np.where(little, 0.0, least), most), most


def word_for_word(values: Floats) -> Booleans:
    """Which candidates have the question's title and text."""
    shared, titles = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles"))
    return np.asarray(np.minimum(shared, titles) >= _WORD_FOR_WORD, dtype=np.bool_)


def copies(values: Floats) -> Booleans:
    """Which candidates have the question's text.

    Single lines are often the same: "please add this", "see the log", or the text of a series of tasks. A candidate
    with such a line is a copy only if it has the question's title, too.
    """
    shared, titles, length = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles", "length"))
    distinctive = (length >= _LINE_LENGTH) | (titles >= _WORD_FOR_WORD)
    return np.asarray((shared >= features.COPY) & distinctive, dtype=np.bool_)


def _has_another_title(pool: Comparison) -> Booleans:
    """Which candidates have a title that marks them as another issue.

    Titles that differ in one place do not count if the candidate is a copy by another author. One author has then seen
    the other's issue, or both authors have copied the same text.
    """
    one_word = np.array(siblings(pool.title, pool.titles), dtype=np.bool_) & ~(copies(pool.values) & pool.others)
    return one_word | np.array(numbered_apart(pool.title, pool.titles), dtype=np.bool_)


# A ValueError names at most this many missing or unknown features. A file of another kind lacks every feature.
_MOST_NAMED = 5

#: Keys of the file: the second model with and without a known author, and the third model.
KNOWN, UNKNOWN = "known authors", "unknown authors"
READ = "readings"

# Scores that agree to this many decimals count as equal.
_DIGITS = 5

# Candidates below POSSIBLY are ordered by the ranking's score plus this weight times the text model's cosine. The sum
# orders such candidates better than their probabilities do (docs/research/accuracy.md).
_TEXT_WEIGHT = 4.0

AskTextModel = Callable[[Integers, int], TextSimilarity | None]
"""Asks the text model about a pool. The arguments are the pool's rows, best first, and how many of the first rows are
leaders (at most `probability.LEADERS`). The answer may cover other rows, too; without a text model it is None."""


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

        Raises ValueError if the weights are for other features, or are not usable numbers.
        """
        if other := sorted(set(data["weights"]) ^ set(names)):
            more = f" and {len(other) - _MOST_NAMED} more" if len(other) > _MOST_NAMED else ""
            raise ValueError(f"the weights are for other features: {', '.join(other[:_MOST_NAMED])}{more}")
        weights = np.array([float(data["weights"][name]) for name in names])
        linear = cls(weights, float(data["intercept"]))
        if not np.isfinite([*linear.weights, linear.intercept]).all():
            raise ValueError("the weights are not all numbers")
        return linear


@dataclass(frozen=True, slots=True)
class Predictions:
    """The candidates' scores and confidences, in the order of the pool; `order` has the pool's rows, best first."""

    order: Integers
    scores: Floats
    confidences: Floats


@dataclass(frozen=True, slots=True)
class Probability:
    """The second model: how likely people are to mark the best candidates of a list as duplicates."""

    confidence: Linear
    calibration: Linear

    def __call__(self, rows: Floats, total: int) -> Floats:
        """The log-odds that people mark each candidate. `rows` come from `confidence_rows`; `total` counts issues."""
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
    """The third model: what a careful reader would say. The weights `with_text` fit only this `text_model`."""

    text_model: str
    with_text: Linear
    by_odds: Linear

    def __call__(self, odds: Floats, likeness: TextSimilarity | None) -> Floats:
        """How likely each candidate is the same report, by the log-odds of being marked and, if any, the text model."""
        probabilities = probability.bounded_probability(self.by_odds(probability.rows_by_odds(odds)))
        if likeness is not None:
            with_text = probability.rows_with_text(odds[likeness.rows], likeness)
            probabilities[likeness.rows] = probability.bounded_probability(self.with_text(with_text))
        return probabilities

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
    """All three models; the second one twice, for `known` authors and for `unknown` ones."""

    ranking: Linear
    known: Probability
    unknown: Probability
    readings: ReaderModel

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that differ for every model and every version of the bounds."""
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

    def judge(self, pool: Comparison, ask_text_model: AskTextModel = lambda rows, leaders: None) -> Predictions:
        """Sort a whole pool, and judge its leaders and the rows that the text model adds.

        Word-for-word copies of the question count as one issue that was sent several times, unless their labels name
        another surface. All these copies get the probability of the likeliest copy, and open copies come first.

        Unlikely candidates are ordered by the ranking and the text model together. `non_increasing` then averages the
        probabilities of neighbours, so that no probability rises in this order.
        """
        values, total = pool.values, pool.total
        scores = self.ranking(features.with_pool_ranks(values))
        # Round: vectors' products vary slightly with the number of threads, but equal scores must stay equal.
        order = np.lexsort((pool.numbers, -np.round(scores, _DIGITS)))
        rows = probability.confidence_rows(values[order], scores[order], total)
        leaders = order[: len(rows)]
        # Only leaders have log-odds. The third model replaces -inf by the lowest log-odds that it knows.
        odds = np.full(len(scores), -np.inf)
        odds[leaders] = (self.known if pool.signed else self.unknown)(rows, total)
        likeness = ask_text_model(order, len(leaders))
        judged, read = (np.zeros(len(scores), dtype=np.bool_) for _ in range(2))
        judged[leaders] = True
        if likeness is not None:
            judged[likeness.rows] = read[likeness.rows] = True
        least, most = bounds(pool.of(np.flatnonzero(judged)), read[judged])
        likely_same = self.readings(odds, likeness)
        if pool.apart.any():
            on_another = _log_odds(likely_same[pool.apart]) + ANOTHER_SURFACE_LOG_ODDS
            likely_same[pool.apart] = probability.bounded_probability(on_another)
        likely = np.minimum(np.round(likely_same[judged], _DIGITS), most)
        # A candidate that was not judged gets the lowest probability of the judged ones, before lower bounds apply.
        confidences = np.full(len(scores), likely.min(initial=1.0))
        confidences[judged] = np.maximum(likely, least)
        copied = word_for_word(values) & ~pool.apart
        confidences[copied] = confidences[copied].max(initial=0.0)
        closeness = scores.copy()
        if likeness is not None:
            # Add the usual cosine for each judged candidate, then correct the sum where the real cosine is known.
            closeness[judged] += _TEXT_WEIGHT * likeness.usual
            closeness[likeness.rows] += _TEXT_WEIGHT * (likeness.cosines - likeness.usual)
        order = order[np.argsort(-np.round(closeness[order], _DIGITS), kind="stable")]
        is_unlikely = judged & ~copied & (confidences < POSSIBLY)
        unlikely = order[is_unlikely[order]]
        confidences[unlikely] = np.round(probability.non_increasing(confidences[unlikely]), _DIGITS)
        by_confidence = order[np.argsort(-confidences[order], kind="stable")]
        closed = 1 - values[copied, features.NAMES.index("open")]
        # The copies keep their positions in the list, but open copies take the first of these positions.
        open_first = np.flatnonzero(copied)[np.lexsort((pool.numbers[copied], closed))]
        by_confidence[copied[by_confidence]] = open_first
        return Predictions(by_confidence, scores, confidences)


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(np.log(probabilities / (1 - probabilities)), dtype=np.float64)


@cache
def shipped_model() -> Model:
    """The model of this version of Doppel."""
    return Model.parse(shipped_text())


def shipped_text() -> str:
    """The text of the shipped `weights.json`."""
    return resources.files("bot.search.matching").joinpath("weights.json").read_text(encoding="utf-8")
