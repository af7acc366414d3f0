"""What a process caches of each repository: term frequencies, vectors, and the issues that were read lately.

Frequencies and vectors are read once and then follow the changes of all processes by their sequence numbers.
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

from bot.search.index import postings as lists
from bot.search.index.issues import IndexedIssue
from bot.search.index.packing import unpack_terms
from bot.search.index.postings import List
from bot.search.index.state import State, Version
from bot.search.index.vectors import Neighbours, grown
from bot.storage.schema import index_lists, indexed_terms

T = TypeVar("T")


class Recent(Generic[T]):
    """A bounded cache by number, first in, first out. Safe to share between threads.

    A change in this process drops the entries that it names. A change by another process shows in the repository's
    version, and empties the cache.
    """

    def __init__(self, most_bytes: int, bytes_of: Callable[[T], int]) -> None:
        self._most, self._bytes_of = most_bytes, bytes_of
        self._lock = threading.Lock()
        self._version: Version | None = None
        self._kept: dict[int, T] = {}
        self.size = 0

    def get(self, version: Version, numbers: Iterable[int]) -> dict[int, T]:
        """The cached entries among these numbers, if the cache is of this version."""
        with self._lock:
            if version != self._version:
                return {}
            kept = self._kept
            return {number: kept[number] for number in numbers if number in kept}

    def keep(self, version: Version, found: Mapping[int, T]) -> None:
        """Cache what was read after the repository was seen in this version.

        An entry may be newer than the version: it is dropped as soon as the change that made it is known.
        """
        with self._lock:
            if version != self._version:
                # A reader of an older version empties the cache for the others, but nobody gets outdated entries.
                self._version, self.size = version, 0
                self._kept.clear()
            for number in self._kept.keys() & found.keys():
                self._drop(number)
            self._kept.update(found)
            self.size += sum(map(self._bytes_of, found.values()))
            while self.size > self._most and self._kept:
                self._drop(next(iter(self._kept)))

    def follow(self, before: Version, after: Version, numbers: Collection[int]) -> None:
        """Take over a change by this process: `after` is `before` but for these numbers."""
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
#: Bytes for the words that were asked for lately: their numbers, their lists, and the lists' chunks. The first is
#: small because every issue has words that no other has, which would fill any bound.
MOST_WORDS, MOST_LISTS, MOST_CHUNKS = 1 << 20, 8 << 20, 16 << 20
#: If more issues than this and one in a hundred have changed, all words are counted again.
FEW_CHANGED = 50
#: If issues have left more lists than this, all words are counted again.
MOST_LEFT = 20_000

_ROWS = 10_000
# Estimates: an empty Memory, an issue's tuple and its place in a dictionary, and the same for a word's row.
_OWN_BYTES, _ISSUE_BYTES, _WORD_BYTES = 20_000, 500, 200


class Memory:
    """One repository's cache. Safe to share between threads.

    It holds the lock `reading` during large reads, which need several times the memory that they leave in use.
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
        self._neighbours = Neighbours(State())
        self.issues: Recent[IndexedIssue] = Recent(MOST_ISSUES, _issue_bytes)
        self.terms: Recent[bytes] = Recent(MOST_TERMS, lambda blob: _WORD_BYTES + len(blob))
        self.vocabulary: Recent[int] = Recent(MOST_WORDS, lambda _: _WORD_BYTES)
        # These two do not follow changes: a new issue changes the very lists that it is compared by. They help a scan,
        # which asks about many issues between two changes.
        self.lists: Recent[List] = Recent(MOST_LISTS, lambda row: _WORD_BYTES + len(row[2]))
        self.chunks: Recent[list[bytes]] = Recent(MOST_CHUNKS, lambda parts: _WORD_BYTES + sum(map(len, parts)))

    @property
    def size(self) -> int:
        """Bytes."""
        # A copy, because another thread may begin a field meanwhile.
        counts = sum(counts.nbytes for counts in list(self._frequencies.values()))
        read = (self.issues, self.terms, self.vocabulary, self.lists, self.chunks)
        return _OWN_BYTES + self._neighbours.size + counts + sum(recent.size for recent in read)

    def follow(self, before: Version, state: State, numbers: Collection[int]) -> None:
        """Take over a change of these issues by this process, from the version `before` to this state."""
        self.issues.follow(before, state.version, numbers)
        self.terms.follow(before, state.version, numbers)
        if not state.lost_words:
            self.vocabulary.follow(before, state.version, ())
        if len(state.left):
            with self._lock:
                if self._frequencies and len(self._left) <= MOST_LEFT:
                    self._left |= dict.fromkeys(state.left.tolist(), state.sequence)

    def frequencies(
        self, connection: sa.Connection, repo_id: int, field: int, state: State, *, narrow: bool
    ) -> NDArray[np.int32]:
        """In how many issues each term occurs in a field, by the term's number.

        A term that has no list counts 0 in a `narrow` field. Other fields have nearly all terms of their space, most of
        them in one issue: those lists are not read, and a term without one counts 1.

        If another process removes or edits an issue, the words that the issue lost are still counted, until another
        issue that has them changes.
        """
        with self._lock:
            if self._counted < state.sequence:
                if self._frequencies:
                    unchanged, changed = _changed(connection, repo_id, self._counted)
                    # With no unchanged issue, another process may have erased the repository and filled it again, with
                    # other numbers for terms. After many changes, looking up words takes longer than counting all.
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
                    # This view is older than the other fields; kept with them, it would miss a change for good.
                    return counts
                self._frequencies[field], self._absent[field] = counts, absent
            return self._frequencies[field]

    def neighbours(self, connection: sa.Connection, repo_id: int, state: State) -> Neighbours:
        """The vectors, as they are now."""
        with self._lock:
            if not self._neighbours.follows(state):
                self._neighbours = Neighbours(state)
            if self._neighbours.sequence < state.sequence:
                with nullcontext() if self._neighbours.sequence else self._reading:
                    self._neighbours.refresh(connection, repo_id, state)
            return self._neighbours


class Memories:
    """The caches of the repositories that were used last."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._kept: OrderedDict[int, Memory] = OrderedDict()
        # As counted when each was last used; counting all of them for every question would take too long.
        self._sizes: dict[int, int] = {}
        self._size = 0

    @contextmanager
    def using(self, repo_id: int) -> Iterator[Memory]:
        """The memory of a repository, an empty one if it is new here."""
        with self._lock:
            memory = self._kept.get(repo_id)
            if memory is None:
                memory = self._kept[repo_id] = Memory(self._reading)
            self._kept.move_to_end(repo_id)
        try:
            yield memory
        finally:
            self._settle(repo_id)

    def forget(self, repo_id: int) -> None:
        with self._lock:
            self._drop(repo_id)

    def _settle(self, repo_id: int) -> None:
        """Count a repository's size again, and drop the least recently used ones while all are too large."""
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
    """The count of every term of a field; lists that count no more than an absent term are not read."""
    counts = np.full(terms, absent, dtype=np.int32)
    first, table = lists.key(field, 0), index_lists.c
    query = sa.select(table.list, table.issues).where(
        table.repo_id == repo_id, table.list >= first, table.list < lists.key(field, terms), table.issues > absent
    )
    for rows in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]
    return counts


def _changed(connection: sa.Connection, repo_id: int, after: int) -> tuple[bool, int]:
    """Whether any issue is as it was at a change, and how many have changed since."""
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
    """Count again the words of issues that have changed, and the lists that issues have `left`."""
    table = indexed_terms
    query = sa.select(table.c.terms).where(table.c.repo_id == repo_id, table.c.changed > after)
    blobs = list(connection.execute(query).scalars())
    gone = np.fromiter(left, np.int64, len(left))
    for field, bags in zip(counts, unpack_terms(blobs, list(counts)), strict=True):
        first = lists.key(field, 0)
        terms = np.union1d(bags.terms.astype(np.int64), gone[gone >> 32 == field] - first)
        terms = terms[terms < len(counts[field])]
        found = lists.issues_in(connection, repo_id, lists.keys(field, terms).tolist())
        counts[field][terms] = [found.get(first + term, absent[field]) for term in terms.tolist()]


def _issue_bytes(issue: IndexedIssue) -> int:
    texts = (issue.title, issue.author, *issue.labels)
    return _ISSUE_BYTES + sum(map(sys.getsizeof, texts))
