"""A process's cache of each repository: term frequencies, vectors, and recently read rows.

Frequencies and vectors are read once, and then follow the changes of all processes by their sequence numbers.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Generic, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.index.arrays import unpack_terms
from bot.search.index.database import IndexState, IndexVersion
from bot.search.index.issues import IndexedIssue
from bot.search.index.postings import PostingsList, issues_in, list_key, list_keys
from bot.search.index.vectors import Neighbours, grown
from bot.storage.schema import index_lists, indexed_terms

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """A bounded cache by number, first in, first out. Safe to share between threads.

    A change by this process drops the entries that it names; one by another process, seen by the repository's version,
    empties the cache.
    """

    def __init__(self, most_bytes: int, bytes_of: Callable[[T], int]) -> None:
        self._most, self._bytes_of = most_bytes, bytes_of
        self._lock = threading.Lock()
        self._version: IndexVersion | None = None
        self._kept: dict[int, T] = {}
        self.size = 0

    def get(self, version: IndexVersion, numbers: Iterable[int]) -> dict[int, T]:
        """The cached entries among these numbers, if the cache is of this version."""
        with self._lock:
            if version != self._version:
                return {}
            kept = self._kept
            return {number: kept[number] for number in numbers if number in kept}

    def keep(self, version: IndexVersion, found: Mapping[int, T]) -> None:
        """Cache what was read after this version was seen. Newer entries are dropped once their change is known."""
        with self._lock:
            if version != self._version:
                # A reader of an older version empties the cache, but nobody gets outdated entries.
                self._version, self.size = version, 0
                self._kept.clear()
            for number in self._kept.keys() & found.keys():
                self._drop(number)
            self._kept.update(found)
            self.size += sum(map(self._bytes_of, found.values()))
            while self.size > self._most and self._kept:
                self._drop(next(iter(self._kept)))

    def follow(self, before: IndexVersion, after: IndexVersion, numbers: Collection[int]) -> None:
        """Take over a change of these numbers by this process."""
        with self._lock:
            if self._version == before:
                self._version = after
                for number in numbers:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        one = self._kept.pop(number, None)
        if one is not None:
            self.size -= self._bytes_of(one)


#: Bytes for all repositories together; the least recently used are dropped first.
MOST_BYTES = 128 << 20
#: Bytes for one repository's issues without their bodies, and for their terms.
MOST_ISSUES, MOST_TERMS = 16 << 20, 40 << 20
#: Bytes for the numbers of recent words, their lists, and the lists' chunks. The first is small, because every issue
#: has words of its own, which would fill any bound.
MOST_WORDS, MOST_LISTS, MOST_CHUNKS = 1 << 20, 8 << 20, 16 << 20
#: All words are counted again if more issues than this and one in a hundred have changed,
FEW_CHANGED = 50
#: or if issues have left more lists than this.
MOST_LEFT = 20_000

_ROWS = 10_000
# Estimates: an empty Memory, an issue's tuple and its place in a dictionary, and the same for a word's row.
_OWN_BYTES, _ISSUE_BYTES, _WORD_BYTES = 20_000, 500, 200


class RepositoryCache:
    """One repository's cache. Safe to share between threads.

    Large reads, which need several times the memory that they leave in use, hold the lock `reading`.
    """

    def __init__(self, reading: threading.Lock) -> None:
        self._lock = threading.Lock()
        self._reading = reading
        # By field; the arrays have room for more terms, and are current up to the change `_counted`.
        self._frequencies: dict[int, NDArray[np.int32]] = {}
        # By field, the count of a term that has no list there.
        self._absent: dict[int, int] = {}
        self._counted = 0
        # The keys of the lists that issues have left since then, each with the change in which they left.
        self._left: dict[int, int] = {}
        self._neighbours = Neighbours(IndexState())
        self.issues: BoundedCache[IndexedIssue] = BoundedCache(MOST_ISSUES, _issue_bytes)
        self.terms: BoundedCache[bytes] = BoundedCache(MOST_TERMS, lambda blob: _WORD_BYTES + len(blob))
        self.vocabulary: BoundedCache[int] = BoundedCache(MOST_WORDS, lambda _: _WORD_BYTES)
        # These do not follow changes, but help a scan, which asks about many issues between two changes.
        self.lists: BoundedCache[PostingsList] = BoundedCache(MOST_LISTS, lambda row: _WORD_BYTES + len(row[2]))
        self.chunks: BoundedCache[list[bytes]] = BoundedCache(
            MOST_CHUNKS, lambda parts: _WORD_BYTES + sum(map(len, parts))
        )

    @property
    def size(self) -> int:
        """Bytes."""
        # A copy, because another thread may add a field meanwhile.
        counts = sum(counts.nbytes for counts in list(self._frequencies.values()))
        read = (self.issues, self.terms, self.vocabulary, self.lists, self.chunks)
        return _OWN_BYTES + self._neighbours.size + counts + sum(recent.size for recent in read)

    def follow(self, before: IndexVersion, state: IndexState, numbers: Collection[int]) -> None:
        """Take over this process's change of these issues from `before` to this state."""
        self.issues.follow(before, state.version, numbers)
        self.terms.follow(before, state.version, numbers)
        if not state.lost_words:
            self.vocabulary.follow(before, state.version, ())
        if len(state.left):
            with self._lock:
                if self._frequencies and len(self._left) <= MOST_LEFT:
                    self._left |= dict.fromkeys(state.left.tolist(), state.sequence)

    def frequencies(
        self, connection: sa.Connection, repo_id: int, field: int, state: IndexState, *, narrow: bool
    ) -> NDArray[np.int32]:
        """In how many issues each term occurs in a field, by the term's number.

        A term without a list counts 0 in a `narrow` field. Other fields have nearly all terms of their space, most of
        them in one issue: those lists are not read, and such terms count 1. Words that an issue lost in another process
        are still counted, until another issue that has them changes.
        """
        with self._lock:
            if self._counted < state.sequence:
                if self._frequencies:
                    unchanged, changed = _changed(connection, repo_id, self._counted)
                    # With no unchanged issue, another process may have filled the repository anew, with other numbers
                    # for terms. After many changes, counting all words is quicker.
                    if not unchanged or changed > FEW_CHANGED + state.issues // 100 or len(self._left) > MOST_LEFT:
                        self._frequencies.clear()
                for name, counts in self._frequencies.items():
                    self._frequencies[name] = grown(counts, state.next_term, fill=self._absent[name])
                left = [key for key, sequence in self._left.items() if sequence <= state.sequence]
                if self._frequencies:
                    _count_changed(connection, repo_id, self._frequencies, self._absent, self._counted, left)
                for key in left:
                    del self._left[key]
                self._counted = state.sequence
            if field not in self._frequencies:
                absent = 0 if narrow else 1
                with self._reading:
                    counts = _count_all(connection, repo_id, field, state.next_term, absent)
                if self._counted > state.sequence:
                    # Kept with the newer fields, this older one would miss a change for good.
                    return counts
                self._frequencies[field], self._absent[field] = counts, absent
            return self._frequencies[field]

    def neighbours(self, connection: sa.Connection, repo_id: int, state: IndexState) -> Neighbours:
        with self._lock:
            if not self._neighbours.follows(state):
                self._neighbours = Neighbours(state)
            if self._neighbours.sequence < state.sequence:
                with nullcontext() if self._neighbours.sequence else self._reading:
                    self._neighbours.refresh(connection, repo_id, state)
            return self._neighbours


class IndexCache:
    """The caches of the repositories that were used lately."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._kept: OrderedDict[int, RepositoryCache] = OrderedDict()
        # As of each one's last use; counting all for every question would take too long.
        self._sizes: dict[int, int] = {}
        self._size = 0

    @contextmanager
    def using(self, repo_id: int) -> Iterator[RepositoryCache]:
        with self._lock:
            cache = self._kept.get(repo_id)
            if cache is None:
                cache = self._kept[repo_id] = RepositoryCache(self._reading)
            self._kept.move_to_end(repo_id)
        try:
            yield cache
        finally:
            self._settle(repo_id)

    def forget(self, repo_id: int) -> None:
        with self._lock:
            self._drop(repo_id)

    def _settle(self, repo_id: int) -> None:
        """Count a size again, and drop the least recently used repositories while all are too large."""
        with self._lock:
            if repo_id not in self._kept:
                return
            size = self._kept[repo_id].size
            self._size += size - self._sizes.get(repo_id, 0)
            self._sizes[repo_id] = size
            while self._size > self._most and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def _drop(self, repo_id: int) -> None:
        self._kept.pop(repo_id, None)
        self._size -= self._sizes.pop(repo_id, 0)


def _count_all(connection: sa.Connection, repo_id: int, field: int, terms: int, absent: int) -> NDArray[np.int32]:
    """The count of every term of a field; lists that count like an absent term are not read."""
    counts = np.full(terms, absent, dtype=np.int32)
    first, table = list_key(field, 0), index_lists.c
    query = sa.select(table.list, table.issues).where(
        table.repo_id == repo_id, table.list >= first, table.list < list_key(field, terms), table.issues > absent
    )
    for rows in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]
    return counts


def _changed(connection: sa.Connection, repo_id: int, after: int) -> tuple[bool, int]:
    """Whether any issue has not changed since a change, and how many have."""
    here, changed = indexed_terms.c.repo_id == repo_id, indexed_terms.c.changed
    unchanged = sa.exists().where(here, changed <= after)
    newer = sa.select(sa.func.count()).where(here, changed > after).scalar_subquery()
    any_unchanged, count = connection.execute(sa.select(unchanged, newer)).one()
    return bool(any_unchanged), count


def _count_changed(
    connection: sa.Connection,
    repo_id: int,
    counts: Mapping[int, NDArray[np.int32]],
    absent: Mapping[int, int],
    after: int,
    left: Collection[int],
) -> None:
    """Recount the words of changed issues, and the lists that issues have `left`."""
    table = indexed_terms
    query = sa.select(table.c.terms).where(table.c.repo_id == repo_id, table.c.changed > after)
    blobs = list(connection.execute(query).scalars())
    gone = np.fromiter(left, np.int64, len(left))
    for field, bags in zip(counts, unpack_terms(blobs, list(counts)), strict=True):
        first = list_key(field, 0)
        terms = np.union1d(bags.terms.astype(np.int64), gone[gone >> 32 == field] - first)
        terms = terms[terms < len(counts[field])]
        found = issues_in(connection, repo_id, list_keys(field, terms).tolist())
        counts[field][terms] = [found.get(first + term, absent[field]) for term in terms.tolist()]


def _issue_bytes(issue: IndexedIssue) -> int:
    texts = (issue.title, issue.author, *issue.labels)
    return _ISSUE_BYTES + sum(map(sys.getsizeof, texts))
