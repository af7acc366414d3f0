"""What is set by hand, whatever is learned: how far high probabilities are doubted, and the bounds of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.index.postings.packing import Floats, Integers
from bot.matching import features
from bot.ranking.by_hand import ANOTHER_CONFIDENCE, COPY_CONFIDENCE, LITTLE_CONFIDENCE, NO_MORE_THAN_A_WORD
from bot.ranking.size import SMALL
from bot.text.another import is_another, says_another
from bot.text.swapping import siblings

Booleans = NDArray[np.bool_]

VERSION = 2
"""Raised with every change of these rules: what was answered by others counts as another model's answer."""

# More than a few copies of one text come from a form that nobody filled in, unless most came within a week: a form is
# left empty now and then, and what many send at once is one event.
_FEW_COPIES, _AN_EVENT = 2, np.log1p(7.0)
# Word for word the same by the same person, and more than a line: sent twice. Of twelve such in golang-go and Rust
# eight are marked as duplicates.
_WORD_FOR_WORD, _TWICE_CONFIDENCE = 0.999, 0.5
# In `length`: a title and a sentence.
_A_LINE = np.log1p(20.0)
# In `length`: two words of a title, or six of a body.
_LITTLE = np.log1p(6.5)

# What is said above this counts by that part. docs/matching.md, "The upper end", tells what it was chosen by.
_HIGH, _DOUBTED = 0.3, 0.5


@dataclass(frozen=True, slots=True)
class Compared:
    """A question, and its pool of candidates as they are judged, a row each.

    `values` are (candidates, features.NAMES), `numbers` and `titles` the candidates' own. `others` are known to be by
    somebody else than the question, `own` by the same person. `title` is the question's. `total` is how many issues
    there are; a question is `vague` that has words and says nothing by them, and `signed` where it is known who asks.
    """

    values: Floats
    numbers: Integers
    titles: Sequence[str]
    others: Booleans
    own: Booleans
    title: str
    total: int
    vague: bool = False
    signed: bool = True

    def of(self, rows: Integers) -> Compared:
        """Some of its rows, in the order that is given."""
        return replace(
            self,
            values=self.values[rows],
            numbers=self.numbers[rows],
            titles=[self.titles[row] for row in rows.tolist()],
            others=self.others[rows],
            own=self.own[rows],
        )


def doubted(likely: Floats) -> Floats:
    """Probabilities as they hold elsewhere: .3 and half of what is above that, so at most .65. The order stays.

    Where a model is surest it is least to be trusted in a repository from which it has not learned.
    """
    return np.asarray(np.minimum(likely, _HIGH + (likely - _HIGH) * _DOUBTED), dtype=np.float64)


def bounds(pool: Compared) -> tuple[Floats, Floats]:
    """The least and the most that each probability can be.

    A copy by another author (`copies`) has at least .25. One author's copy is no such case: people file series of
    issues from one text, and empty forms. Only what the same person has sent twice, word for word, has at least .5. At
    most .1 has what the titles call another one, and where one of the two says next to nothing: what they share is next
    to nothing then. The same holds for all candidates of a vague question, and for a common word that two issues of a
    small repository share.
    """
    column = {name: pool.values[:, place] for place, name in enumerate(features.NAMES)}
    days = column["days"][column["words_shared"] >= features.COPY]
    few = len(days) <= _FEW_COPIES
    at_once = few or (days < _AN_EVENT).mean() > 0.5
    little = np.minimum(column["length"], column["length"] + column["shorter"]) < _LITTLE
    little |= pool.vague
    if pool.total < SMALL:
        shares = np.maximum(column["words_of_question"], column["words_of_candidate"])
        little |= shares < NO_MORE_THAN_A_WORD
    most = np.minimum(np.where(little, LITTLE_CONFIDENCE, 1.0), np.where(_another(pool), ANOTHER_CONFIDENCE, 1.0))
    twice = few & pool.own & word_for_word(pool.values) & (column["length"] >= _A_LINE)
    copied = at_once & copies(pool.values) & pool.others
    least = np.where(twice, _TWICE_CONFIDENCE, np.where(copied, COPY_CONFIDENCE, 0.0))
    return np.minimum(np.where(little, 0.0, least), most), most


def word_for_word(values: Floats) -> Booleans:
    """Which candidates have the question's title and text."""
    shared, titles = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles"))
    return np.asarray(np.minimum(shared, titles) >= _WORD_FOR_WORD, dtype=np.bool_)


def copies(values: Floats) -> Booleans:
    """Which candidates have the question's text, as far as that tells anything.

    A line is soon the same, "please add this" or "see the log", and a task of a series has one for all: it is a copy
    only under the same title.
    """
    shared, titles, length = (values[:, features.NAMES.index(name)] for name in ("words_shared", "titles", "length"))
    told = (length >= _A_LINE) | (titles >= _WORD_FOR_WORD)
    return np.asarray((shared >= features.COPY) & told, dtype=np.bool_)


def _another(pool: Compared) -> Booleans:
    """Which candidates the titles tell from the question.

    Somebody else's text under a title with another word is the same text: whoever sends that again has seen the first
    and bends its title, or both have copied it from one place.
    """
    another = np.array(siblings(pool.title, pool.titles), dtype=np.bool_) & ~(copies(pool.values) & pool.others)
    if says_another(pool.title):
        another |= np.array([is_another(pool.title, title) for title in pool.titles], dtype=np.bool_)
    return another
