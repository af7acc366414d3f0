"""This process's cache of each repository: term frequencies and vectors.

The cache first reads all frequencies and vectors. Later it reads only issues with newer sequence
numbers. It reads all frequencies again after many changes, and all vectors after a change of the
model or of `IndexState.centre`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.index.arrays import unpack_terms
from bot.search.index.database import IndexState
from bot.search.index.postings import issues_in, list_key, list_keys
from bot.search.index.vectors import Neighbours, grown
from bot.storage.engine import with_key
from bot.storage.schema import index_lists, indexed_terms

#: Bytes for all repositories together; the least recently used repository is dropped first.
MOST_BYTES = 128 << 20
#: If the number of changed issues exceeds FEW_CHANGED plus 1% of all issues, all terms are counted again.
FEW_CHANGED = 50

_ROWS = 10_000
# About the size of an empty RepositoryCache.
_OWN_BYTES = 20_000


class RepositoryCache:
    """One repository's cache. Safe to share between threads.

    A large read needs several times the memory of its result, so each large read needs `large_read_lock`.
    """

    def __init__(self, large_read_lock: threading.Lock) -> None:
        self._lock = threading.Lock()
        self._large_read_lock = large_read_lock
        # Frequencies by field position, as of change `_counted_until`. Arrays may have spare room.
        self._frequencies: dict[int, NDArray[np.int32]] = {}
        self._counted_until = 0
        self._neighbours = Neighbours(IndexState())

    @property
    def size(self) -> int:
        """About how many bytes of memory the cache takes."""
        # A copy, because another thread may add a field meanwhile.
        frequency_bytes = sum(counts.nbytes for counts in list(self._frequencies.values()))
        return _OWN_BYTES + self._neighbours.size + frequency_bytes

    def recount(self) -> None:
        """Count all terms again at the next search. Call this when this process has removed terms from issues."""
        with self._lock:
            self._frequencies.clear()

    def frequencies(self, connection: sa.Connection, repo_id: int, field: int, state: IndexState) -> NDArray[np.int32]:
        """How many issues have each term in a field, by term number.

        Only terms that several issues have are read; other terms count 1. If another process removes a term from an
        issue, the term's count falls only after another issue with the term changes.
        """
        with self._lock:
            if self._counted_until < state.sequence:
                if self._frequencies:
                    since = {"repo_id": repo_id, "after": self._counted_until}
                    unchanged, changed = connection.execute(_UNCHANGED_AND_NEWER, since).one()
                    # If every issue has changed, another process may have rebuilt the index with other term numbers.
                    # And after many changes, counting all terms is quicker.
                    if not unchanged or changed > FEW_CHANGED + state.issues // 100:
                        self._frequencies.clear()
                for position, counts in self._frequencies.items():
                    self._frequencies[position] = grown(counts, state.next_term, fill=1)
                if self._frequencies:
                    _count_changed(connection, repo_id, self._frequencies, self._counted_until)
                self._counted_until = state.sequence
            if field not in self._frequencies:
                with self._large_read_lock:
                    counts = _count_all(connection, repo_id, field, state.next_term)
                if self._counted_until > state.sequence:
                    # Do not store `counts`: they may lack changes that another search counted.
                    return counts
                self._frequencies[field] = counts
            return self._frequencies[field]

    def neighbours(self, connection: sa.Connection, repo_id: int, state: IndexState) -> Neighbours:
        """The repository's vectors, as of `state` or later."""
        with self._lock:
            if not self._neighbours.follows(state):
                self._neighbours = Neighbours(state)
            if self._neighbours.sequence < state.sequence:
                is_large = self._neighbours.sequence == 0
                with self._large_read_lock if is_large else nullcontext():
                    self._neighbours.refresh(connection, repo_id, state)
            return self._neighbours


class IndexCache:
    """The caches of the repositories that were used lately."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock, self._large_read_lock = threading.Lock(), threading.Lock()
        self._repositories: OrderedDict[int, RepositoryCache] = OrderedDict()

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
            with self._lock:
                size = sum(cache.size for cache in self._repositories.values())
                while size > self._most_bytes and len(self._repositories) > 1:
                    size -= self._repositories.popitem(last=False)[1].size

    def forget(self, repo_id: int) -> None:
        with self._lock:
            self._repositories.pop(repo_id, None)


def _count_all(connection: sa.Connection, repo_id: int, field: int, next_term: int) -> NDArray[np.int32]:
    """The number of issues with each term of a field, never below 1."""
    counts = np.ones(next_term, dtype=np.int32)
    first, table = list_key(field, 0), index_lists.c
    query = sa.select(table.list, table.issues).where(
        table.repo_id == repo_id, table.list >= first, table.list < list_key(field, next_term), table.issues > 1
    )
    for rows in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]
    return counts


_IN_REPO, _LATER = with_key(indexed_terms, "repo_id"), indexed_terms.c.changed > sa.bindparam("after")
_NEWER_TERMS = sa.select(indexed_terms.c.terms).where(_IN_REPO, _LATER)
# Whether any issue is unchanged since the change `after`, and how many issues have changed.
_UNCHANGED_AND_NEWER = sa.select(
    sa.exists().where(_IN_REPO, ~_LATER), sa.select(sa.func.count()).where(_IN_REPO, _LATER).scalar_subquery()
)


def _count_changed(
    connection: sa.Connection, repo_id: int, counts: Mapping[int, NDArray[np.int32]], after: int
) -> None:
    """Recount the terms of issues that changed since the change `after`."""
    blobs = list(connection.execute(_NEWER_TERMS, {"repo_id": repo_id, "after": after}).scalars())
    for field, bags in zip(counts, unpack_terms(blobs, list(counts)), strict=True):
        first = list_key(field, 0)
        terms = np.unique(bags.terms.astype(np.int64))
        terms = terms[terms < len(counts[field])]
        list_sizes = issues_in(connection, repo_id, list_keys(field, terms).tolist())
        counts[field][terms] = [list_sizes.get(first + term, 1) for term in terms.tolist()]
