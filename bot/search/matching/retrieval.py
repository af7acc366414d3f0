"""Retrieves candidates: fuses nine lists into a pool. Each list has the index's best issues by one kind of similarity.

| list | what is compared |
|---|---|
| `words` | BM25F: all words of the question in all words of an issue; title words count three times |
| `titles` | words of both titles; a match in a long title counts less |
| `title in words` | words of the question's title in all words of an issue |
| `words in title` | all words of the question in the titles of issues |
| `codes` | names from code, paths, versions, error codes |
| `messages` | error messages, and runs of three of their words |
| `vector of title`, `vector of text`, `vector of both` | cosines |

A search by words reads a limited number of postings, rarest terms first, at any index size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.domain.entities import NOBODY, Actor, Issue
from bot.search.index import Analysis, Bags, IndexedIssue, Query, Terms, VectorKind, View, binary, bm25, idf
from bot.search.index.arrays import Floats, Integers, Scoring
from bot.search.index.vectors import Vectors

# Every App's login ends like this, as do most machine users'. Both may import other people's issues.
_MACHINE_ENDINGS = ("bot", "[bot]")


@dataclass(frozen=True, slots=True)
class IssueQuery:
    """The question: an issue for which candidates are sought.

    `known` holds the issue's terms by field, as looked up in the index. `vectors`, (3, dimensions), has a row for each
    `VectorKind`, or is None. `created_at` is in seconds since 1970. `author` is empty unless a known person wrote the
    issue; `reported` counts the author's earlier issues.
    """

    number: int
    title: str
    author: str
    reported: int
    created_at: float
    known: Mapping[str, Terms]
    vectors: Vectors | None
    labels: tuple[str, ...] = ()


def make_query(view: View, target: Issue, title: str, analysis: Analysis, pair: Vectors | None) -> IssueQuery:
    """Make the question and look up the terms of `analysis`.

    `title` is the target's title, or a person's search words. `pair`: vectors of title and text; `centred` adds BOTH.
    """
    author = known_author(target.author)
    return IssueQuery(
        number=target.number,
        title=title,
        author=author,
        reported=view.reported(author, target.number) if author else 0,
        created_at=target.created_at.timestamp(),
        known=view.look_up(analysis),
        vectors=None if pair is None or not view.vector_count else view.centred(pair),
        labels=target.labels,
    )


def known_author(author: Actor) -> str:
    """The login of a person; empty for a machine or an unknown author."""
    machine = author.is_bot or author.login.lower().endswith(_MACHINE_ENDINGS)
    return "" if machine or author.login == NOBODY else author.login


#: The fields of the index that are compared.
FIELDS = ("title", "words", "codes", "messages")


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one question, in any order; `vectors` is (issues, 3, dimensions), or None."""

    issues: Sequence[IndexedIssue]
    title: Bags
    words: Bags
    codes: Bags
    messages: Bags
    vectors: Vectors | None


def load(view: View, numbers: Integers, with_vectors: bool) -> tuple[Integers, Pool]:
    """Those `numbers` that the index holds, and the pool of these issues."""
    issues = view.issues(numbers.tolist())
    held = np.array([number for number in numbers.tolist() if number in issues], dtype=np.int64)
    title, words, codes, messages = view.terms(held, *FIELDS)
    vectors = view.vectors(held) if with_vectors else None
    return held, Pool([issues[n] for n in held.tolist()], title, words, codes, messages, vectors)


def by_other_author(question: IssueQuery, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by another author."""
    if not question.author:
        return np.zeros(len(pool.issues), dtype=np.bool_)
    same_or_unknown = {question.author, "", NOBODY}
    return np.array([one.author not in same_or_unknown for one in pool.issues], dtype=np.bool_)


#: The most candidates in a pool.
POOL = 200
#: Names of two sources (H6): the lists by words, and the lists by vectors.
FULL_TEXT, VECTORS = "full-text", "vectors"

# The most terms of a text to search for, heaviest first. More terms take time and change nothing.
_MOST_TERMS = 40
# Reciprocal rank fusion's constant (Cormack, Clarke and Büttcher, 2009).
_RRF = 60
# Limits the weight of a term that the question repeats (BM25's k3).
_K3 = 1.5

Retrieved = Mapping[str, Integers]
"""The issues' numbers in each list, best first, by the list's name."""


def by_words(view: View, question: IssueQuery, below: int | None) -> Retrieved:
    """The six lists by words, of issues with numbers below `below` (None: of all issues)."""
    known = question.known
    words, title = known["words"], known["title"]
    scoring = bm25(view.average_length("words"))
    own_weights = words.counts * (1 + _K3) / (words.counts + _K3) * idf(view.count, words.issues)
    in_words, in_titles = _weights(view, "words", title.terms), _weights(view, "title", words.terms)
    # For each list, the query and the most issues. A higher argument of `binary` makes a field's length matter less.
    asked = {
        "words": (_query("words", words.terms, own_weights, scoring), 150),
        "titles": (_query("title", title.terms, idf(view.count, title.issues), binary(3)), 100),
        "title in words": (_query("words", title.terms, in_words, scoring), 80),
        "words in title": (_query("title", words.terms, in_titles, binary(3)), 80),
    }
    for field, most in (("codes", 60), ("messages", 40)):
        terms = known[field]
        asked[field] = (_query(field, terms.terms, idf(view.count, terms.issues), binary(20)), most)
    found = dict(zip(asked, view.search_all([query for query, _ in asked.values()], below=below), strict=True))
    return {name: found[name].best(most).numbers for name, (_, most) in asked.items()}


def by_vectors(view: View, pair: Vectors, below: int | None) -> Retrieved:
    """The three lists by vectors, with `below` as in `by_words`. `pair` has the vectors of title and text."""
    near = view.nearest(pair, {VectorKind.BOTH: 150, VectorKind.TITLE: 100, VectorKind.TEXT: 80}, below=below)
    return {f"vector of {kind.name.lower()}": scores.numbers for kind, scores in near.items()}


def fused(lists: Iterable[Integers], skip: int, most: int | None = POOL) -> Integers:
    """Fuse lists by reciprocal rank: the best `most` issues except `skip`. Of equally good ones, the oldest first."""
    ranked = list(lists)
    if not ranked:
        return np.zeros(0, dtype=np.int64)
    together = np.concatenate(ranked)
    numbers = np.unique(together)
    parts = 1 / (_RRF + 1 + np.concatenate([np.arange(len(one)) for one in ranked]))
    scores = np.bincount(np.searchsorted(numbers, together), parts, len(numbers))
    # The numbers ascend, so a stable sort puts older issues first.
    order = np.argsort(-scores, kind="stable")
    best: Integers = numbers[order]
    others: Integers = best[best != skip]
    return others[:most]


def _weights(view: View, field: str, terms: Integers) -> Floats:
    """The weights of a text's terms for a search in another field; zero for terms that the field does not have."""
    seen = view.issues_with(field, terms)
    return np.where(seen > 0, idf(view.count, seen), 0.0)


def _query(field: str, terms: Integers, weights: Floats, scoring: Scoring) -> Query:
    best = np.argsort(-weights, kind="stable")[:_MOST_TERMS]
    best = best[weights[best] > 0]
    return Query(field, terms[best], weights[best], scoring)
