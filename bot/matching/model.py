"""The learned part: two small models whose weights are data, shipped beside this file.

The first orders candidates (`standing.py`), a softmax over the candidates of one question. The second says how likely
each of the best few is the same issue (`confidence.py`), a logistic regression. `weights.json` says what they were made
from and by which command; `doppel train` makes it. Only weights are in it, no text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.index.packing import Floats, Integers
from bot.matching import confidence, features, standing

Booleans = NDArray[np.bool_]

# Scores that agree to so many decimals are equal.
_DIGITS = 5

# Set by hand, because labelled files hold next to none: copies by somebody else. Most of those few are not marked as
# duplicates either (4 of golang-go's 43 are), so they are said to be likely enough to be shown, and not more. More than
# a few copies of one text come from a form that nobody filled in.
_COPY_CONFIDENCE, _FEW_COPIES = 0.25, 2
# Word for word the same by the same person, and more than a line: sent twice. Of twelve such in golang-go and Rust
# eight are marked as duplicates.
_WORD_FOR_WORD, _TWICE_CONFIDENCE = 0.999, 0.5
# In `length`: a title and a sentence.
_A_LINE = np.log1p(20.0)
# A title that differs by its number alone, or by a word in one place, is meant to be another one.
_ANOTHER_CONFIDENCE = 0.1
# Where one of the two says next to nothing, what they share is next to nothing as well. In `length`: two words of a
# title, or six of a body.
_LITTLE, _LITTLE_CONFIDENCE = np.log1p(6.5), 0.1
# With fewer issues than `features.SMALL` a repository has no background to stand out from: whoever shares less than
# this part of their words there shares a common one.
_NO_MORE_THAN_A_WORD = 0.25


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
        """Read one model. Raises ValueError where it was made for other features than this version has."""
        if set(data["weights"]) != set(names):
            raise ValueError(f"the weights are for other features: {sorted(set(data['weights']) ^ set(names))}")
        return cls(np.array([float(data["weights"][name]) for name in names]), float(data["intercept"]))


@dataclass(frozen=True, slots=True)
class Judged:
    """Candidates in the order in which they were given, and their `order`: the rows, best first."""

    order: Integers
    scores: Floats
    confidences: Floats


@dataclass(frozen=True, slots=True)
class Model:
    """What orders candidates, and what says how far to trust the order."""

    ranking: Linear
    confidence: Linear
    calibration: Linear

    @classmethod
    def parse(cls, text: str) -> Model:
        """Read `weights.json`. Raises ValueError, KeyError or TypeError where it is none of this version."""
        data = json.loads(text)
        return cls(
            Linear.parse(data["ranking"], standing.NAMES),
            Linear.parse(data["confidence"], confidence.NAMES),
            Linear.parse(data["calibration"], (*confidence.CALIBRATION, confidence.SMALLNESS)),
        )

    def judge(
        self,
        values: Floats,
        numbers: Integers,
        others: Booleans,
        own: Booleans,
        another: Booleans,
        total: int,
        vague: bool = False,
    ) -> Judged:
        """Judge a whole pool: (candidates, features.NAMES), the candidates' numbers, which are known to be by somebody
        else than the question, and which by the same, of which the titles say that it is another one, how many
        issues there are, and whether the question says nothing.

        Of equals the older comes first. Who ranks lower is never called likelier.
        """
        scores = self.ranking(standing.standings(values))
        # Products of vectors differ in their last digits from one number of threads to another; equals stay equals.
        order = np.lexsort((numbers, -np.round(scores, _DIGITS)))
        rows = confidence.rows(values[order], scores[order], total)
        leaders, rest = order[: len(rows)], order[len(rows) :]
        odds = self.calibration(confidence.calibration(self.confidence(rows), total))
        likely = np.minimum.accumulate(1 / (1 + np.exp(-np.clip(odds, -30, 30))))
        least, most = bounds(values[leaders], others[leaders], own[leaders], another[leaders], total, vague)
        likely = np.minimum(np.maximum(likely, least), most)
        # What the bounds have raised or lowered takes its new place; what comes after the leaders is at most as likely.
        ahead = np.argsort(-likely, kind="stable")
        confidences = np.empty(len(scores))
        confidences[leaders] = likely
        confidences[rest] = likely.min(initial=1.0)
        return Judged(np.concatenate([leaders[ahead], rest]), scores, confidences)


def bounds(
    values: Floats, others: Booleans, own: Booleans, another: Booleans, total: int, vague: bool = False
) -> tuple[Floats, Floats]:
    """The least and the most that each probability can be, whatever the model says; both set by hand.

    A copy by another author (`copies`) has at least .25. One author's copy is no such case: people file series of
    issues from one text, and empty forms. Only what the same person has sent twice, word for word, has at least .5. At
    most .1 has what the titles call another one, and where one of the two says next to nothing: what they share is next
    to nothing then. The same holds for all candidates of a `vague` question, which has words but says nothing by them,
    and for a common word that two issues of a small repository share.
    """
    column = {name: values[:, place] for place, name in enumerate(features.NAMES)}
    few = (column["words_shared"] >= features.COPY).sum() <= _FEW_COPIES
    little = np.minimum(column["length"], column["length"] + column["shorter"]) < _LITTLE
    little |= vague
    if total < features.SMALL:
        shares = np.maximum(column["words_of_question"], column["words_of_candidate"])
        little |= shares < _NO_MORE_THAN_A_WORD
    most = np.minimum(np.where(little, _LITTLE_CONFIDENCE, 1.0), np.where(another, _ANOTHER_CONFIDENCE, 1.0))
    raised = ~little & few
    twice = own & (np.minimum(column["words_shared"], column["titles"]) >= _WORD_FOR_WORD)
    twice &= column["length"] >= _A_LINE
    least = np.where(twice, _TWICE_CONFIDENCE, np.where(copies(values) & others, _COPY_CONFIDENCE, 0.0))
    return np.minimum(np.where(raised, least, 0.0), most), most


def copies(values: Floats) -> Booleans:
    """Which candidates have the question's text, as far as that tells anything.

    A line is soon the same, "please add this" or "see the log", and a task of a series has one for all: it is a copy
    only under the same title.
    """
    shared, titles, length = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles", "length"))
    told = (length >= _A_LINE) | (titles >= _WORD_FOR_WORD)
    return np.asarray((shared >= features.COPY) & told, dtype=np.bool_)


@cache
def shipped_model() -> Model:
    """The model that comes with this version."""
    return Model.parse(resources.files("bot.matching").joinpath("weights.json").read_text(encoding="utf-8"))
