"""The candidates of one question, read from the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.index import Bags, IndexedIssue, View
from bot.index.postings.packing import Integers
from bot.index.vectors.vectors import Vectors
from bot.matching.question import Question
from bot.model import NOBODY

#: The fields of the index that are compared.
FIELDS = ("title", "words", "codes", "messages")


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one question, in any order. `vectors` are (issues, 3, dimensions), or None."""

    issues: Sequence[IndexedIssue]
    title: Bags
    words: Bags
    codes: Bags
    messages: Bags
    vectors: Vectors | None


def load(view: View, numbers: Integers, with_vectors: bool) -> tuple[Integers, Pool]:
    """The pool of those of the numbers that are there, and which they are."""
    issues = view.issues(numbers.tolist())
    there = np.array([number for number in numbers.tolist() if number in issues], dtype=np.int64)
    title, words, codes, messages = view.terms(there, *FIELDS)
    vectors = view.vectors(there) if with_vectors else None
    return there, Pool([issues[number] for number in there.tolist()], title, words, codes, messages, vectors)


def by_others(question: Question, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by somebody else than the question."""
    if not question.author:
        return np.zeros(len(pool.issues), dtype=np.bool_)
    not_others = {question.author, "", NOBODY}
    return np.array([one.author not in not_others for one in pool.issues], dtype=np.bool_)


def by_author(question: Question, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by who asks the question."""
    known = bool(question.author) and question.author != NOBODY
    return np.array([known and one.author == question.author for one in pool.issues], dtype=np.bool_)
