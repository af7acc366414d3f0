"""The bounds of each probability, set by hand. Readings bear each of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.search.index.packing import Floats, Integers
from bot.search.matching import features
from bot.search.ranking.size import SMALL
from bot.text.titles import is_another, is_unfilled, says_another, siblings

ANOTHER_CONFIDENCE = 0.1
"""The most for a title that differs in a number alone, or in one word: it is meant as another issue."""

LITTLE_CONFIDENCE = 0.1
"""The most if one of the two says next to nothing: then they share next to nothing as well."""

NO_MORE_THAN_A_WORD = 0.25
"""A repository of fewer issues than `size.SMALL` has no background to stand out from. Two issues there that share less
than this part of their words share a common one."""

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
