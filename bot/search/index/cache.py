"""This process's cache of each repository: term frequencies, vectors, and recently read rows.

Frequencies and vectors are read in full only once. Afterwards, sequence numbers tell which issues any process has
changed, and only those are read.
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
    """A cache of limited size, by number; the oldest entries are dropped first. Safe to share between threads.

    A change by this process drops only the changed entries. A change by another process shows in the repository's
    version, and empties the cache.
    """

    def __init__(self, most_bytes: int, bytes_of: Callable[[T], int]) -> None:
        self._max_bytes, self._bytes_of = most_bytes, bytes_of
        self._lock = threading.Lock()
        self._version: IndexVersion | None = None
        self._entries: dict[int, T] = {}
        self.size = 0

    def get(self, version: IndexVersion, numbers: Iterable[int]) -> dict[int, T]:
        """The cached entries among these numbers, if the cache is of this version."""
        with self._lock:
            if version != self._version:
                return {}
            entries = self._entries
            return {number: entries[number] for number in numbers if number in entries}

    def keep(self, version: IndexVersion, entries: Mapping[int, T]) -> None:
        """Cache entries that were read after this version was seen.

        Entries that are newer than the version are dropped once their change is known.
        """
        with self._lock:
            if version != self._version:
                # A reader with an older version empties the cache too, but no reader gets outdated entries.
                self._version, self.size = version, 0
                self._entries.clear()
            for number in self._entries.keys() & entries.keys():
                self._drop(number)
            self._entries.update(entries)
            self.size += sum(map(self._bytes_of, entries.values()))
            while self.size > self._max_bytes and self._entries:
                self._drop(next(iter(self._entries)))

    def follow(self, before: IndexVersion, after: IndexVersion, numbers: Collection[int]) -> None:
        """Drop the entries that this process has changed, and go on with the version `after`."""
        with self._lock:
            if self._version == before:
                self._version = after
                for number in numbers:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        entry = self._entries.pop(number, None)
        if entry is not None:
            self.size -= self._bytes_of(entry)


#: Bytes for all repositories together; the least recently used repository is dropped first.
MOST_BYTES = 128 << 20
#: Bytes for one repository's issues without their bodies, and for their terms.
MOST_ISSUES, MOST_TERMS = 16 << 20, 40 << 20
#: Bytes for the term numbers of recent words, their lists, and the lists' chunks. The first limit is low, because
#: every issue has unique words, which would fill any cache.
MOST_WORDS, MOST_LISTS, MOST_CHUNKS = 1 << 20, 8 << 20, 16 << 20
#: All words are counted again if more issues have changed than this number plus one in a hundred.
FEW_CHANGED = 50
#: All words are also counted again if issues have left more lists than this.
MOST_LEFT = 20_000

_ROWS = 10_000
# Estimates: an empty RepositoryCache, an issue's tuple with its dictionary entry, a word's row with its entry.
_OWN_BYTES, _ISSUE_BYTES, _WORD_BYTES = 20_000, 500, 200


class RepositoryCache:
    """One repository's cache. Safe to share between threads.

    A large read needs several times the memory of its result, so all large reads hold `large_read_lock`.
    """

    def __init__(self, large_read_lock: threading.Lock) -> None:
        self._lock = threading.Lock()
        self._large_read_lock = large_read_lock
        # Frequencies by field. The arrays are current up to the change `_counted_until`, with room for more terms.
        self._frequencies: dict[int, NDArray[np.int32]] = {}
        # By field, the count of a term that has no list in the field.
        self._absent: dict[int, int] = {}
        self._counted_until = 0
        # The keys of lists that issues have left since `_counted_until`, each with the change in which an issue left.
        self._left_lists: dict[int, int] = {}
        self._neighbours = Neighbours(IndexState())
        self.issues: BoundedCache[IndexedIssue] = BoundedCache(MOST_ISSUES, _issue_bytes)
        self.terms: BoundedCache[bytes] = BoundedCache(MOST_TERMS, lambda blob: _WORD_BYTES + len(blob))
        self.vocabulary: BoundedCache[int] = BoundedCache(MOST_WORDS, lambda _: _WORD_BYTES)
        # Lists and chunks do not follow changes. They help a scan, which searches for many issues between two changes.
        self.lists: BoundedCache[PostingsList] = BoundedCache(MOST_LISTS, lambda row: _WORD_BYTES + len(row[2]))
        self.chunks: BoundedCache[list[bytes]] = BoundedCache(
            MOST_CHUNKS, lambda parts: _WORD_BYTES + sum(map(len, parts))
        )

    @property
    def size(self) -> int:
        """Bytes."""
        # A copy, because another thread may add a field meanwhile.
        counts = sum(counts.nbytes for counts in list(self._frequencies.values()))
        caches = (self.issues, self.terms, self.vocabulary, self.lists, self.chunks)
        return _OWN_BYTES + self._neighbours.size + counts + sum(cache.size for cache in caches)

    def follow(self, before: IndexVersion, state: IndexState, numbers: Collection[int]) -> None:
        """After this process has changed these issues, go on from the version `before` to this state."""
        self.issues.follow(before, state.version, numbers)
        self.terms.follow(before, state.version, numbers)
        if not state.lost_words:
            self.vocabulary.follow(before, state.version, ())
        if len(state.left):
            with self._lock:
                if self._frequencies and len(self._left_lists) <= MOST_LEFT:
                    self._left_lists |= dict.fromkeys(state.left.tolist(), state.sequence)

    def frequencies(
        self, connection: sa.Connection, repo_id: int, field: int, state: IndexState, *, narrow: bool
    ) -> NDArray[np.int32]:
        """How many issues have each term in a field, by term number.

        In a `narrow` field, a term without a list counts 0. Any other field has nearly all terms of its space, most of
        them in a single issue: lists of a single issue are not read, and their terms count 1.

        If another process removes a word from an issue, the issue still counts for the word until another issue with
        the word changes.
        """
        with self._lock:
            if self._counted_until < state.sequence:
                if self._frequencies:
                    unchanged, changed = _changed_since(connection, repo_id, self._counted_until)
                    # If no issue is unchanged, another process may have rebuilt the index with other term numbers.
                    # After many changes, counting all words is quicker.
                    if (
                        not unchanged
                        or changed > FEW_CHANGED + state.issues // 100
                        or len(self._left_lists) > MOST_LEFT
                    ):
                        self._frequencies.clear()
                for name, counts in self._frequencies.items():
                    self._frequencies[name] = grown(counts, state.next_term, fill=self._absent[name])
                left = [key for key, sequence in self._left_lists.items() if sequence <= state.sequence]
                if self._frequencies:
                    _count_changed(connection, repo_id, self._frequencies, self._absent, self._counted_until, left)
                for key in left:
                    del self._left_lists[key]
                self._counted_until = state.sequence
            if field not in self._frequencies:
                absent = 0 if narrow else 1
                with self._large_read_lock:
                    counts = _count_all(connection, repo_id, field, state.next_term, absent)
                if self._counted_until > state.sequence:
                    # Do not store this older count with newer counts: the change in between would never be added.
                    return counts
                self._frequencies[field], self._absent[field] = counts, absent
            return self._frequencies[field]

    def neighbours(self, connection: sa.Connection, repo_id: int, state: IndexState) -> Neighbours:
        with self._lock:
            if not self._neighbours.follows(state):
                self._neighbours = Neighbours(state)
            if self._neighbours.sequence < state.sequence:
                with nullcontext() if self._neighbours.sequence else self._large_read_lock:
                    self._neighbours.refresh(connection, repo_id, state)
            return self._neighbours


class IndexCache:
    """The caches of the repositories that were used lately."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._max_bytes = most_bytes
        self._lock, self._large_read_lock = threading.Lock(), threading.Lock()
        self._repositories: OrderedDict[int, RepositoryCache] = OrderedDict()
        # The size of each repository after its last use; measuring all for every search would take too long.
        self._sizes: dict[int, int] = {}
        self._size = 0

    @contextmanager
    def using(self, repo_id: int) -> Iterator[RepositoryCache]:
        with self._lock:
            cache = self._repositories.get(repo_id)
            if cache is None:
                cache = self._repositories[repo_id] = RepositoryCache(self._large_read_lock)
            self._repositories.move_to_end(repo_id)
        try:
            yield cache
        finally:
            self._update_size(repo_id)

    def forget(self, repo_id: int) -> None:
        with self._lock:
            self._drop(repo_id)

    def _update_size(self, repo_id: int) -> None:
        """Measure a repository again, and drop the least recently used repositories while the total is too large."""
        with self._lock:
            if repo_id not in self._repositories:
                return
            size = self._repositories[repo_id].size
            self._size += size - self._sizes.get(repo_id, 0)
            self._sizes[repo_id] = size
            while self._size > self._max_bytes and len(self._repositories) > 1:
                self._drop(next(iter(self._repositories)))

    def _drop(self, repo_id: int) -> None:
        self._repositories.pop(repo_id, None)
        self._size -= self._sizes.pop(repo_id, 0)


def _count_all(connection: sa.Connection, repo_id: int, field: int, terms: int, absent: int) -> NDArray[np.int32]:
    """How many issues have each term of a field. Lists that count no more than an `absent` term are not read."""
    counts = np.full(terms, absent, dtype=np.int32)
    first, table = list_key(field, 0), index_lists.c
    query = sa.select(table.list, table.issues).where(
        table.repo_id == repo_id, table.list >= first, table.list < list_key(field, terms), table.issues > absent
    )
    for rows in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]
    return counts


def _changed_since(connection: sa.Connection, repo_id: int, after: int) -> tuple[bool, int]:
    """Whether any issue is unchanged since the change `after`, and how many issues have changed."""
    mine, changed = indexed_terms.c.repo_id == repo_id, indexed_terms.c.changed
    unchanged = sa.exists().where(mine, changed <= after)
    newer = sa.select(sa.func.count()).where(mine, changed > after).scalar_subquery()
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
    """Recount the words of issues that changed since the change `after`, and the lists that issues have `left`."""
    table = indexed_terms
    query = sa.select(table.c.terms).where(table.c.repo_id == repo_id, table.c.changed > after)
    blobs = list(connection.execute(query).scalars())
    left_keys = np.fromiter(left, np.int64, len(left))
    for field, bags in zip(counts, unpack_terms(blobs, list(counts)), strict=True):
        first = list_key(field, 0)
        terms = np.union1d(bags.terms.astype(np.int64), left_keys[left_keys >> 32 == field] - first)
        terms = terms[terms < len(counts[field])]
        list_sizes = issues_in(connection, repo_id, list_keys(field, terms).tolist())
        counts[field][terms] = [list_sizes.get(first + term, absent[field]) for term in terms.tolist()]


def _issue_bytes(issue: IndexedIssue) -> int:
    texts = (issue.title, issue.author, *issue.labels)
    return _ISSUE_BYTES + sum(map(sys.getsizeof, texts))
