"""What is set by hand, whatever is learned: the bounds of each probability. Readings bear each of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bot.index.postings.packing import Floats, Integers
from bot.matching import features
from bot.ranking.size import SMALL
from bot.text.titles import is_another, is_unfilled, says_another, siblings

ANOTHER_CONFIDENCE = 0.1
"""The most of what differs in its title by its number alone, or by a word in one place: it is meant to be another."""

LITTLE_CONFIDENCE = 0.1
"""The most where one of the two says next to nothing: what they share is next to nothing as well."""

NO_MORE_THAN_A_WORD = 0.25
"""With fewer issues than `size.SMALL` a repository has no background to stand out from: whoever shares less than this
part of their words there shares a common one."""


ANOTHER_SURFACE = -1.6
"""Log-odds of what the labels place on another surface, by the titles that do so: of 211 pairs alike but for a platform
or the like 10 were the same, where 42 were expected (`bot.text.titles.siblings`)."""


Booleans = NDArray[np.bool_]

VERSION = 5
"""Raised with every change of these rules: what was answered by others counts as another model's answer."""

# More than a few copies of one text come from a form that nobody filled in, unless most came within a week: a form is
# left empty now and then, and what many send at once is one event.
_FEW_COPIES, _AN_EVENT = 2, np.log1p(7.0)
# Title and text word for word the same (P2); of one person's, or nobody's, more than a line. Of 35 such pairs, lines
# and forms among them, readers call 26 the same.
_WORD_FOR_WORD, _COPY_CONFIDENCE = 0.999, 0.95
# In `length`: a title and a sentence.
_A_LINE = np.log1p(20.0)
# In `length`: two words of a title, or six of a body.
_LITTLE = np.log1p(6.5)


@dataclass(frozen=True, slots=True)
class Compared:
    """A question, and its pool of candidates as they are judged, a row each.

    `apart` are those whose labels are of another surface (`bot/text/surfaces.py`). `values` are (candidates,
    features.NAMES), `numbers` and `titles` the candidates' own. `others` are known to be by somebody else than the
    question, `own` by the same person. `title` is the question's. `total` is how many issues there are; a question is
    `vague` that has words and says nothing by them, and `signed` where it is known who asks.
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
    apart: Booleans | None = None

    def of(self, rows: Integers) -> Compared:
        """Some of its rows, in the order that is given."""
        return replace(
            self,
            values=self.values[rows],
            numbers=self.numbers[rows],
            titles=[self.titles[row] for row in rows.tolist()],
            others=self.others[rows],
            own=self.own[rows],
            apart=None if self.apart is None else self.apart[rows],
        )


def bounds(pool: Compared, read: Booleans) -> tuple[Floats, Floats]:
    """The least and the most that each probability can be; `read` are those that the text model was asked about.

    What is word for word the same has at least .95, whoever wrote it, and at most .1 where it is a form that nobody
    filled in, which others send again and again. At most .1 has what the titles call another one (of 101 such pairs
    readers call 7 the same), and where one of the two says next to nothing (0 of 19): what they share is next to
    nothing then. The same holds for all candidates of a vague question, and for a common word that two issues of a
    small repository share, if the text model does not know better.
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
