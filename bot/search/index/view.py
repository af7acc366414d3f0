"""A snapshot of one repository's index, in which a search finds and reads issues."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import unit
from bot.search.index import issues as issue_rows
from bot.search.index.analysis import Analysis, Field, hashes
from bot.search.index.arrays import (
    NO_TERMS,
    Bags,
    Floats,
    Integers,
    Scores,
    Scoring,
    add_up,
    counts_of,
    lengths_of,
    numbers_of,
    read_postings,
    unpack_terms,
)
from bot.search.index.cache import RepositoryCache
from bot.search.index.database import IndexState, fetch
from bot.search.index.issues import IndexedIssue, storable_text
from bot.search.index.postings import PostingsList, chunks_of, list_keys, read_lists, term_numbers
from bot.search.index.text_vectors import NewVectors, TextVectors
from bot.search.index.vectors import Neighbours, VectorKind, Vectors, read_vectors, subtract_centre, unpack
from bot.storage.engine import with_key
from bot.storage.schema import indexed_issues, indexed_terms

#: The most postings that one query may read, heaviest terms first.
BUDGET = 60_000

# The key for a term that is new to the repository. No list of postings has this key.
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Terms:
    """The distinct terms of one field of a text.

    For each term: the word, the term's number in the repository (negative if new), its count in the text, and the
    number of issues that have the term in that field.
    """

    words: tuple[str, ...]
    terms: Integers
    counts: Floats
    issues: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """Terms to search for in a field, the weight of each term, and the function that scores postings."""

    field: str
    terms: Integers
    weights: Floats
    scoring: Scoring


_BELOW = indexed_issues.c.number < sa.bindparam("below")
_COUNT_BY_AUTHOR = sa.select(sa.func.count()).where(with_key(indexed_issues, "repo_id", "author"), _BELOW)
_FREQUENT_ORIGINALS = (
    sa.select(indexed_issues.c.duplicate_of)
    .where(with_key(indexed_issues, "repo_id"), indexed_issues.c.duplicate_of > 0)
    .group_by(indexed_issues.c.duplicate_of)
    .having(sa.func.count() >= sa.bindparam("min_duplicates"))
    .order_by(sa.func.count().desc())
    .limit(sa.bindparam("limit"))
)


class View:
    """A snapshot for one search, made by `Index.view`. Do not share it between threads."""

    def __init__(
        self,
        connection: sa.Connection,
        repo_id: int,
        fields: Sequence[Field],
        cache: RepositoryCache,
        state: IndexState,
    ) -> None:
        self._connection = connection
        self._repo_id = repo_id
        self._fields = fields
        self._position = {field.name: position for position, field in enumerate(fields)}
        self._cache = cache
        #: The repository's totals; read only.
        self.state = state
        self._lists: dict[int, PostingsList | None] = {}
        self._chunks: dict[int, list[bytes]] = {}
        self._issues: dict[int, IndexedIssue | None] = {}
        self._looked_up: tuple[Analysis, dict[str, Terms]] | None = None

    @property
    def count(self) -> int:
        return self.state.issues

    @property
    def vector_count(self) -> int:
        return self.state.vectors

    def average_length(self, field: str, excluded_length: int | None = None) -> float:
        """The mean length of a field, at least 1. `excluded_length` is the length of an issue that does not count."""
        total, count = self.state.lengths.get(self._position[field], 0), self.state.issues
        if excluded_length is not None:
            total, count = total - excluded_length, count - 1
        return max(1.0, total / max(1, count))

    def look_up(self, analysis: Analysis) -> dict[str, Terms]:
        """Look up a text's terms, for each searchable field."""
        if self._looked_up is None or self._looked_up[0] is not analysis:
            self._looked_up = analysis, self._look_up(analysis)
        return self._looked_up[1]

    def _look_up(self, analysis: Analysis) -> dict[str, Terms]:
        fields = {field.name: field.space for field in self._fields if field.posted}
        # Fields in the same space share term numbers. The inner dicts have only keys: they serve as ordered sets.
        words_of: dict[str, dict[str, None]] = {space: {} for space in fields.values()}
        for name, space in fields.items():
            words_of[space].update(dict.fromkeys(analysis.terms[name]))
        hash_of = {space: dict(zip(words, hashes(space, words), strict=True)) for space, words in words_of.items()}
        all_hashes = [hashed for by_word in hash_of.values() for hashed in by_word.values()]
        known = term_numbers(self._connection, self._repo_id, all_hashes)
        new_numbers = itertools.count(-1, -1)
        numbers = {
            space: {word: known.get(hashed) or next(new_numbers) for word, hashed in by_word.items()}
            for space, by_word in hash_of.items()
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
        """By term number, how many issues (at least 1) have the term in a field. Cached, so perhaps a bit outdated."""
        return self._cache.frequencies(self._connection, self._repo_id, self._position[field], self.state)

    def issues_with(self, field: str, terms: Integers) -> Floats:
        """How many issues have each of these terms in a field."""
        keys = self._keys(field, terms)
        self._load(keys)
        return self._issues_in(keys)

    def search_all(self, queries: Sequence[Query], *, budget: int = BUDGET, below: int | None = None) -> list[Scores]:
        """For each query, find the issues below number `below` that have any of the query's terms in its field.

        An issue's score is a sum over its postings: the term's weight times the score that `scoring` gives the posting.
        A query reads at most `budget` postings, heaviest terms first. It skips a term with more postings than are left.
        """
        by_query = [(query, self._keys(query.field, query.terms)) for query in queries]
        self._load({key for _, keys in by_query for key in keys})
        chosen = [(query, self._choose(keys, query.weights, budget)) for query, keys in by_query]
        # A posting has 8 bytes. A list keeps the latest postings in its tail, and earlier ones, if any, in chunks.
        read = [postings_list for _, lists in chosen for postings_list, _ in lists]
        chunked = {key for key, count, tail in read if 8 * count > len(tail)}
        self._chunks |= chunks_of(self._connection, self._repo_id, chunked - self._chunks.keys())
        return [self._add_up(lists, query.scoring, below) for query, lists in chosen]

    def nearest(
        self, pair: Vectors, wanted: Mapping[VectorKind, int], *, below: int | None = None
    ) -> dict[VectorKind, Scores]:
        """Find the issues whose vectors are closest, by cosine, to a text's: for each kind, as many as `wanted` says.

        `pair`, of shape (2, dimensions), has the vectors of the text's title and of the whole text.
        """
        if not self.vector_count:
            return {kind: Scores(np.zeros(0, dtype=np.int64), np.zeros(0)) for kind in wanted}
        return self._neighbours().nearest(self.centred(pair), wanted, below)

    def centred(self, pair: Vectors) -> Vectors:
        """A text's centred vectors, (3, dimensions): of the title, of the whole text, and of both (`VectorKind`)."""
        centred = subtract_centre(pair, self.state.centre)
        return np.concatenate([centred, unit(centred.sum(axis=0, keepdims=True))])

    def vectors(self, numbers: Integers) -> Vectors:
        """The centred vectors of issues, (issues, 3, dimensions), by `VectorKind`; zero for issues without vectors."""
        return self._neighbours().stored(numbers)

    def pair(self, number: int) -> Vectors | None:
        """An issue's vectors, (2, dimensions), as from `Index.embed`; None for an issue without vectors."""
        blob = read_vectors(self._connection, self._repo_id, [number]).get(number)
        return None if blob is None else unpack([blob])[0]

    def text_vectors(
        self, model: TextVectors, numbers: Sequence[int], max_new: int | None
    ) -> tuple[Integers, Vectors, NewVectors]:
        """Vectors of issues from the text model, the second and slower embedding model. See `TextVectors.of`."""
        return model.of(self._connection, self._repo_id, numbers, max_new)

    def terms(self, numbers: Integers, *fields: str) -> list[Bags]:
        """The terms of issues in the order of `numbers`, for each of the fields."""
        wanted, table = numbers.tolist(), indexed_terms.c
        blobs = dict(fetch(self._connection, self._repo_id, (table.number, table.terms), table.number, wanted))
        packed = [blobs.get(number, NO_TERMS) for number in wanted]
        return unpack_terms(packed, [self._position[field] for field in fields])

    def reported(self, author: str, below: int) -> int:
        """How many issues the author has reported, counting only numbers below `below`."""
        values = {"repo_id": self._repo_id, "author": storable_text(author, 200), "below": below}
        return self._connection.execute(_COUNT_BY_AUTHOR, values).scalar_one()

    def frequent_originals(self, min_duplicates: int, limit: int) -> list[int]:
        """Issues with at least `min_duplicates` closed duplicates; most duplicates first."""
        wanted = {"repo_id": self._repo_id, "min_duplicates": min_duplicates, "limit": limit}
        return list(self._connection.execute(_FREQUENT_ORIGINALS, wanted).scalars())

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies; numbers that are not in the index are left out."""
        if new := [number for number in numbers if number not in self._issues]:
            self._issues |= dict.fromkeys(new) | issue_rows.read(self._connection, self._repo_id, new)
        return {number: issue for number in numbers if (issue := self._issues[number]) is not None}

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return issue_rows.texts(self._connection, self._repo_id, numbers)

    def _choose(self, keys: Sequence[int], weights: Floats, budget: int) -> list[tuple[PostingsList, float]]:
        """The lists that a query reads, with their weights, heaviest first."""
        chosen = []
        for at in np.argsort(-weights, kind="stable").tolist():
            postings_list, weight = self._lists.get(keys[at]), float(weights[at])
            if postings_list is not None and weight > 0 and (count := postings_list[1]) <= budget:
                budget -= count
                chosen.append((postings_list, weight))
        return chosen

    def _add_up(self, chosen: Sequence[tuple[PostingsList, float]], scoring: Scoring, below: int | None) -> Scores:
        if not chosen:
            return Scores(np.zeros(0, dtype=np.int64), np.zeros(0))
        blobs = [b"".join([*self._chunks.get(key, ()), tail]) for (key, _, tail), _ in chosen]
        postings = read_postings(*blobs)
        scores = scoring(counts_of(postings), lengths_of(postings))
        scores *= np.repeat([weight for _, weight in chosen], [len(blob) // 8 for blob in blobs])
        return add_up(numbers_of(postings), scores, below)

    def _neighbours(self) -> Neighbours:
        return self._cache.neighbours(self._connection, self._repo_id, self.state)

    def _issues_in(self, keys: Sequence[int]) -> Floats:
        return np.array([(self._lists.get(key) or (key, 0, b""))[1] for key in keys], dtype=np.float64)

    def _keys(self, field: str, terms: Integers) -> list[int]:
        position = self._position[field]
        keys: list[int] = np.where(terms > 0, list_keys(position, terms), _NOWHERE).tolist()
        return keys

    def _load(self, keys: Iterable[int]) -> None:
        new = [key for key in keys if key >= 0 and key not in self._lists]
        if new:
            self._lists |= dict.fromkeys(new) | read_lists(self._connection, self._repo_id, new)
