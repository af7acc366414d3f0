"""A repository's index as one reader sees it: finding issues, and looking at those found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import issues
from bot.index.analysis import Analysis, Field, hashes
from bot.index.database import fetch
from bot.index.issues import IndexedIssue
from bot.index.memory import Memory, Recent
from bot.index.postings import lists, vocabulary
from bot.index.postings.lists import List
from bot.index.postings.packing import (
    NO_TERMS,
    Bags,
    Floats,
    Integers,
    aligned,
    bags_of,
    counts_of,
    lengths_of,
    numbers_of,
    read_postings,
)
from bot.index.postings.scoring import Scores, Scoring, add_up
from bot.index.state import State
from bot.index.text_vectors import Fresh, TextVectors
from bot.index.vectors import vectors
from bot.index.vectors.vectors import Kind, Neighbours, Vectors
from bot.store.tables.index import indexed_terms

#: Postings that one search may read. So its cost does not grow with the repository: what is read are the best terms.
BUDGET = 60_000

T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class Query:
    """Terms to search for in a field, the weight of each, and how what is found of them is scored."""

    field: str
    terms: Integers
    weights: Floats
    scoring: Scoring


@dataclass(slots=True)
class _Chosen:
    """The lists that a query reads, the heaviest first, with their weights; `complete` says whether those are all."""

    lists: list[List]
    weights: list[float]
    complete: bool = True


class View:
    """Made by `Index.view`, for one find; not to be shared between threads."""

    def __init__(
        self,
        connection: sa.Connection,
        repo_id: int,
        fields: Sequence[Field],
        memory: Memory,
        state: State,
    ) -> None:
        self._connection = connection
        self._repo_id = repo_id
        self._fields = fields
        self._position = {field.name: position for position, field in enumerate(fields)}
        self._narrow = frozenset(field.name for field in fields if field.narrow)
        self._memory = memory
        self._state = state
        self._version = state.version
        self._lists: dict[int, List | None] = {}
        self._chunks: dict[int, list[bytes]] = {}

    @property
    def count(self) -> int:
        """How many issues there are."""
        return self._state.issues

    @property
    def vector_count(self) -> int:
        """How many of them have vectors."""
        return self._state.vectors

    @property
    def sequence(self) -> int:
        """How many changes there were."""
        return self._state.sequence

    @property
    def state(self) -> State:
        """What there is of the repository as a whole, for reading only."""
        return self._state

    @property
    def model(self) -> str:
        """The name of the model that made the vectors; empty where there are none."""
        return self._state.model

    def average_length(self, field: str, without: int | None = None) -> float:
        """The mean length of a field, at least 1; without an issue of that length, if one is given."""
        return self._state.average_length(self._position[field], without)

    def look_up(self, analysis: Analysis) -> dict[str, Terms]:
        """The terms of a text in this repository, by the field that can be searched for them."""
        fields = {field.name: field.space for field in self._fields if field.posted}
        each: dict[str, dict[str, None]] = {space: {} for space in fields.values()}
        for name, space in fields.items():
            each[space] |= dict.fromkeys(analysis.terms[name])
        spaces = {space: dict(zip(words, hashes(space, words), strict=True)) for space, words in each.items()}
        known = self._recent(
            self._memory.vocabulary,
            [value for words in spaces.values() for value in words.values()],
            lambda new: vocabulary.look_up(self._connection, self._repo_id, new),
        )
        fresh = itertools.count(-1, -1)
        numbers = {
            space: {word: known.get(value) or next(fresh) for word, value in words.items()}
            for space, words in spaces.items()
        }
        wanted = {
            name: np.array([numbers[space][word] for word in analysis.terms[name]], dtype=np.int64)
            for name, space in fields.items()
        }
        keys = {name: self._keys(name, terms) for name, terms in wanted.items()}
        self._load(itertools.chain.from_iterable(keys.values()))
        return {
            name: Terms(
                tuple(analysis.terms[name]),
                terms,
                np.fromiter(analysis.terms[name].values(), np.float64, len(terms)),
                self._issues_in(keys[name]),
            )
            for name, terms in wanted.items()
        }

    def frequencies(self, field: str) -> NDArray[np.int32]:
        """In how many issues each term there is occurs in a field, by the term's number; from memory, a little less
        exact than what `look_up` says of a text's.
        """
        position, narrow = self._position[field], field in self._narrow
        return self._memory.frequencies(self._connection, self._repo_id, position, self._state, narrow=narrow)

    def search_all(self, queries: Sequence[Query], *, budget: int = BUDGET, below: int | None = None) -> list[Scores]:
        """For each query all issues with one of its terms in its field, each with the sum of weight × scoring.

        The heaviest terms come first; a term whose list is longer than what is left of the budget, which each query has
        for itself, is left out. `below` leaves out issues with that number and higher ones. All are read at once.
        """
        keys = [self._keys(query.field, query.terms) for query in queries]
        self._load({key for each in keys for key in each})
        chosen = [self._choose(each, query.weights, budget) for each, query in zip(keys, queries, strict=True)]
        long = {key for one in chosen for key, issues, tail in one.lists if 8 * issues > len(tail)}
        self._chunks |= self._recent(
            self._memory.chunks,
            long - self._chunks.keys(),
            lambda new: lists.chunks_of(self._connection, self._repo_id, new),
        )
        return [self._add_up(one, query.scoring, below) for one, query in zip(chosen, queries, strict=True)]

    def nearest(self, pair: Vectors, wanted: Mapping[Kind, int], *, below: int | None = None) -> dict[Kind, Scores]:
        """For each kind the issues whose vectors have the highest cosines with those of a text, as many as `wanted`;
        none where there are no vectors.

        `pair` is (2, dimensions), of its title and of the whole text.
        """
        if not self.vector_count:
            return {kind: Scores(np.zeros(0, dtype=np.int64), np.zeros(0)) for kind in wanted}
        return self._neighbours().nearest(self.centred(pair), wanted, below)

    def centred(self, pair: Vectors) -> Vectors:
        """A text's own vectors as those of issues are: (3, dimensions), by `Kind`."""
        around: Vectors = vectors.with_both(vectors.around(pair[None], self._state.centre))[0]
        return around

    def vectors(self, numbers: Integers) -> Vectors:
        """(issues, 3, dimensions), by `Kind`; zero for issues without vectors."""
        return self._neighbours().stored(numbers)

    def pair(self, number: int) -> Vectors | None:
        """An issue's own vectors, (2, dimensions), as `Index.embed` gives those of a text; None where it has none."""
        blob = vectors.read(self._connection, self._repo_id, [number]).get(number)
        return None if blob is None else vectors.unpack([blob])[0]

    def texts_by(self, texts: TextVectors, numbers: Sequence[int], most: int | None) -> tuple[Integers, Vectors, Fresh]:
        """What the text model makes of issues, as `TextVectors.of` says."""
        return texts.of(self._connection, self._repo_id, numbers, most)

    def terms(self, numbers: Integers, *fields: str) -> list[Bags]:
        """The terms of issues, in the order of `numbers`: a bag for each of the fields."""
        wanted = numbers.tolist()
        found = self._recent(self._memory.terms, wanted, self._read_terms)
        there = [found.get(number, NO_TERMS) for number in wanted]
        return bags_of(there, [self._position[field] for field in fields])

    def reported(self, author: str, below: int) -> int:
        """How many issues with smaller numbers an author wrote."""
        return issues.count_by(self._connection, self._repo_id, author, below)

    def magnets(self, least: int, most: int) -> list[int]:
        """The numbers of issues of which at least so many others were closed as duplicates, those with most first."""
        return issues.magnets(self._connection, self._repo_id, least, most)

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies; those that are not there (any more) are left out."""
        return self._recent(self._memory.issues, numbers, lambda new: issues.read(self._connection, self._repo_id, new))

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return issues.texts(self._connection, self._repo_id, numbers)

    def _recent(
        self, memory: Recent[T], numbers: Collection[int], read: Callable[[Collection[int]], Mapping[int, T]]
    ) -> dict[int, T]:
        """What is asked for of some issues: from memory, or else read and remembered."""
        found = memory.get(self._version, numbers)
        if len(found) < len(numbers):
            fresh = read([number for number in numbers if number not in found])
            memory.keep(self._version, fresh)
            found |= fresh
        return found

    def _read_terms(self, numbers: Collection[int]) -> dict[int, bytes]:
        columns = (indexed_terms.c.number, indexed_terms.c.terms)
        rows = fetch(self._connection, self._repo_id, columns, indexed_terms.c.number, numbers)
        return {number: aligned(blob) for number, blob in rows}

    def _choose(self, keys: Sequence[int], weights: Floats, budget: int) -> _Chosen:
        chosen = _Chosen([], [])
        for place in np.argsort(-weights, kind="stable").tolist():
            row = self._lists.get(keys[place])
            weight = float(weights[place])
            if row is None or not weight > 0:
                continue
            if row[1] > budget:
                chosen.complete = False
                continue
            budget -= row[1]
            chosen.lists.append(row)
            chosen.weights.append(weight)
        return chosen

    def _add_up(self, chosen: _Chosen, scoring: Scoring, below: int | None) -> Scores:
        if not chosen.lists:
            return Scores(np.zeros(0, dtype=np.int64), np.zeros(0), chosen.complete)
        blobs = [b"".join([*self._chunks.get(key, ()), tail]) for key, _, tail in chosen.lists]
        postings = read_postings(*blobs)
        scores = scoring(counts_of(postings), lengths_of(postings))
        scores *= np.repeat(chosen.weights, [len(blob) // 8 for blob in blobs])
        return add_up(numbers_of(postings), scores, below, chosen.complete)

    def _neighbours(self) -> Neighbours:
        return self._memory.neighbours(self._connection, self._repo_id, self._state)

    def _issues_in(self, keys: Sequence[int]) -> Floats:
        """In how many issues the terms of loaded lists occur."""
        found = map(self._lists.get, keys)
        return np.array([0 if row is None else row[1] for row in found], dtype=np.float64)

    def _keys(self, field: str, terms: Integers) -> list[int]:
        position = self._position[field]
        keys: list[int] = np.where(terms > 0, lists.keys(position, terms), _NOWHERE).tolist()
        return keys

    def _load(self, keys: Iterable[int]) -> None:
        new = [key for key in keys if key >= 0 and key not in self._lists]
        if new:
            self._lists |= dict.fromkeys(new) | self._recent(
                self._memory.lists, new, lambda rest: lists.look_up(self._connection, self._repo_id, rest)
            )
