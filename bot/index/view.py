"""A repository's index as one reader sees it: finding issues, and looking at those found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import issues, lists, vectors, vocabulary
from bot.index.analysis import Analysis, Field, hashed
from bot.index.database import fetch
from bot.index.issues import IndexedIssue
from bot.index.lists import List
from bot.index.memory import Memory
from bot.index.packing import (
    Bags,
    Floats,
    Integers,
    counts_of,
    lengths_of,
    numbers_of,
    read_postings,
    unpack_terms,
)
from bot.index.scoring import Scores, Scoring, add_up
from bot.index.state import State
from bot.index.vectors import Kind, Vectors
from bot.store.index_tables import indexed_terms

#: Postings that one search may read. So its cost does not grow with the repository: what is read are the best terms.
BUDGET = 60_000

# Signs tell neighbours apart only roughly: so many times more are compared exactly.
_OVERSAMPLING = 3
_NO_TERMS = b"\0"
# The key of a list that there is not.
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Terms:
    """The distinct terms of one field of a text that is asked about.

    Entry by entry: the word, its number in the repository (negative if it is new there), how often it occurs in the
    text, and in how many issues it occurs in that field.
    """

    words: tuple[str, ...]
    terms: Integers
    counts: Floats
    issues: Floats


class View:
    """Made by `Index.view`, for one find; not to be shared between threads."""

    def __init__(
        self, connection: sa.Connection, repo_id: int, fields: Sequence[Field], memory: Memory, state: State
    ) -> None:
        self._connection = connection
        self._repo_id = repo_id
        self._fields = fields
        self._position = {field.name: position for position, field in enumerate(fields)}
        self._memory = memory
        self._state = state
        self._lists: dict[int, List | None] = {}
        self._terms: dict[int, bytes] = {}
        self._vectors: dict[int, bytes] = {}

    @property
    def count(self) -> int:
        """How many issues there are."""
        return self._state.issues

    @property
    def vector_count(self) -> int:
        """How many of them have vectors."""
        return self._state.vectors

    def average_length(self, field: str) -> float:
        """The mean length of a field, at least 1."""
        return self._state.average_length(self._position[field])

    def look_up(self, analysis: Analysis) -> dict[str, Terms]:
        """The terms of a text in this repository, by field."""
        spaces = {field.name: field.space for field in self._fields}
        hashes = {
            (spaces[name], word): hashed(spaces[name], word) for name, terms in analysis.terms.items() for word in terms
        }
        known = vocabulary.look_up(self._connection, self._repo_id, list(hashes.values()))
        fresh = (-1 - i for i in range(len(hashes)))
        numbers = {word: known.get(value) or next(fresh) for word, value in hashes.items()}
        wanted = {
            name: np.array([numbers[spaces[name], word] for word in terms], dtype=np.int64)
            for name, terms in analysis.terms.items()
        }
        self._load(key for name, terms in wanted.items() for key in self._keys(name, terms))
        return {
            name: Terms(
                tuple(analysis.terms[name]),
                terms,
                np.array(list(analysis.terms[name].values()), dtype=np.float64),
                self.issues_with(name, terms),
            )
            for name, terms in wanted.items()
        }

    def issues_with(self, field: str, terms: Integers) -> Floats:
        """In how many issues each of a text's terms occurs in a field; exact, for some hundred terms."""
        keys = self._keys(field, terms)
        self._load(keys)
        found = (self._lists.get(key) for key in keys)
        return np.array([0 if row is None else row.issues for row in found], dtype=np.float64)

    def frequencies(self, field: str) -> NDArray[np.int32]:
        """The same for all terms there are, as an array by the term's number; from memory, a little less exact."""
        return self._memory.frequencies(self._connection, self._repo_id, self._position[field], self._state)

    def search(
        self,
        field: str,
        terms: Integers,
        weights: Floats,
        scoring: Scoring,
        *,
        budget: int = BUDGET,
        below: int | None = None,
    ) -> Scores:
        """All issues with one of the terms in a field, each with the sum of weight × `scoring`.

        The heaviest terms come first; a term whose list is longer than what is left of the budget is left out. `below`
        leaves out issues with that number and higher ones.
        """
        order = np.argsort(-weights, kind="stable")
        keys = self._keys(field, terms[order])
        self._load(keys)
        chosen: list[tuple[int, List, float]] = []
        complete = True
        for key, weight in zip(keys, weights[order].tolist(), strict=True):
            row = self._lists.get(key)
            if row is None or not weight > 0:
                continue
            if row.issues > budget:
                complete = False
                continue
            budget -= row.issues
            chosen.append((key, row, weight))
        long = [key for key, row, _ in chosen if 8 * row.issues > len(row.tail)]
        chunks = lists.chunks_of(self._connection, self._repo_id, long) if long else {}
        blobs = [b"".join([*chunks.get(key, ()), row.tail]) for key, row, _ in chosen]
        postings = read_postings(*blobs)
        weight = np.repeat([weight for _, _, weight in chosen], [len(blob) // 8 for blob in blobs])
        numbers = numbers_of(postings)
        if below is not None:
            early = numbers < below
            postings, weight, numbers = postings[early], weight[early], numbers[early]
        return add_up(numbers, weight * scoring(counts_of(postings), lengths_of(postings)), complete)

    def nearest(self, pair: Vectors, kind: Kind, k: int, *, below: int | None = None) -> Scores:
        """The k issues whose vectors have the highest cosines with those of a text, best first.

        `pair` is (2, dimensions), of its title and of the whole text. Compared are
        those whose signs agree most.
        """
        signs = self._memory.signs(self._connection, self._repo_id, self._state)
        around = self.centred(pair)
        close = signs.closest(around[kind], kind, _OVERSAMPLING * k + 50, below)
        cosines: Floats = (self.vectors(close)[:, kind] @ around[kind]).astype(np.float64)
        return Scores(close, cosines).best(k)

    def centred(self, pair: Vectors) -> Vectors:
        """A text's own vectors as those of issues are: (3, dimensions), by `Kind`."""
        around: Vectors = vectors.centred(pair[None], self._state.centre)[0]
        return around

    def vectors(self, numbers: Integers) -> Vectors:
        """(issues, 3, dimensions), by `Kind`; zero for issues without vectors."""
        wanted = numbers.tolist()
        new = [number for number in wanted if number not in self._vectors]
        if new:
            self._vectors |= vectors.read(self._connection, self._repo_id, new)
        found = [(row, self._vectors[number]) for row, number in enumerate(wanted) if number in self._vectors]
        dimensions = self._state.vector_sum.shape[1]
        result = np.zeros((len(wanted), len(Kind), dimensions), dtype=np.float32)
        if found:
            stored = vectors.unpack([blob for _, blob in found])
            result[[row for row, _ in found]] = vectors.centred(stored, self._state.centre)
        return result

    def terms(self, numbers: Integers, field: str) -> Bags:
        """The terms of one field of issues, in the order of `numbers`."""
        wanted = numbers.tolist()
        new = [number for number in wanted if number not in self._terms]
        if new:
            self._terms |= read_terms(self._connection, self._repo_id, new)
        return unpack_terms([self._terms.get(number, _NO_TERMS) for number in wanted], self._position[field])

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies; those that are not there (any more) are left out."""
        return issues.read(self._connection, self._repo_id, numbers)

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return issues.texts(self._connection, self._repo_id, numbers)

    def _keys(self, field: str, terms: Integers) -> list[int]:
        position = self._position[field]
        return [lists.key(position, term) if term > 0 else _NOWHERE for term in terms.tolist()]

    def _load(self, keys: Iterable[int]) -> None:
        new = [key for key in keys if key >= 0 and key not in self._lists]
        if new:
            self._lists |= dict.fromkeys(new) | lists.look_up(self._connection, self._repo_id, new)


def read_terms(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, bytes]:
    """The packed terms of issues by number."""
    table = indexed_terms
    return dict(fetch(connection, repo_id, (table.c.number, table.c.terms), table.c.number, numbers))
