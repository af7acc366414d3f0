"""The candidates of one question, read from the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.index import Analysis, Bags, IndexedIssue, Terms, View
from bot.index.postings.packing import Integers
from bot.index.vectors.vectors import Vectors
from bot.model import NOBODY, Actor, Issue

# Machine users, which an import of another tracker's issues may have written, are named so by custom; an App by rule.
_MACHINE = ("bot", "[bot]")


@dataclass(frozen=True, slots=True)
class Question:
    """`known` are the text's terms by field, `vectors` those of its title, its text and both, (3, dimensions), or None.

    `created_at` is in seconds since 1970; `author` is empty where it is no person that is known; `reported` is how many
    earlier issues the author has written.
    """

    number: int
    title: str
    author: str
    reported: int
    created_at: float
    known: Mapping[str, Terms]
    vectors: Vectors | None


def pose(view: View, target: Issue, title: str, analysis: Analysis, pair: Vectors | None) -> Question:
    """The question, with its terms looked up in the repository. `title` is the target's own, or the words instead."""
    author = known_author(target.author)
    return Question(
        number=target.number,
        title=title,
        author=author,
        reported=view.reported(author, target.number) if author else 0,
        created_at=target.created_at.timestamp(),
        known=view.look_up(analysis),
        vectors=None if pair is None or not view.vector_count else view.centred(pair),
    )


def known_author(author: Actor) -> str:
    """The login of a person, or nothing where it stands for nobody in particular or for a machine."""
    machine = author.is_bot or author.login.lower().endswith(_MACHINE)
    return "" if machine or author.login == NOBODY else author.login


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
