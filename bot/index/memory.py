"""What a process keeps of a repository: how frequent each term is, and the vectors.

Both are read once, and then follow the changes by their sequence numbers, whichever process made them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import lists
from bot.index.neighbours import Neighbours
from bot.index.packing import unpack_terms
from bot.index.state import State
from bot.store.index_tables import indexed_terms

#: Of all repositories together; the least recently used are forgotten first.
MOST_BYTES = 128 << 20

_ROWS = 10_000


class Memory:
    """One repository's. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frequencies: dict[int, tuple[int, NDArray[np.int32]]] = {}
        self._neighbours = Neighbours(State())

    @property
    def size(self) -> int:
        """Bytes."""
        return self._neighbours.size + sum(counts.nbytes for _, counts in self._frequencies.values())

    def frequencies(self, connection: sa.Connection, repo_id: int, field: int, state: State) -> NDArray[np.int32]:
        """In how many issues each term occurs in a field, by the term's number.

        An edited issue is counted twice until the process starts anew; in a logarithm that makes no difference.
        """
        with self._lock:
            sequence, counts = self._frequencies.get(field, (-1, np.zeros(0, dtype=np.int32)))
            if sequence < state.sequence:
                fresh = np.zeros(max(state.next_term, len(counts)), dtype=np.int32)
                if sequence < 0:
                    _count_all(connection, repo_id, field, fresh)
                else:
                    fresh[: len(counts)] = counts
                    _count_changed(connection, repo_id, field, fresh, sequence, state.sequence)
                counts = fresh
                self._frequencies[field] = (state.sequence, counts)
            return counts

    def neighbours(self, connection: sa.Connection, repo_id: int, state: State) -> Neighbours:
        """The vectors, as they are now."""
        with self._lock:
            if not self._neighbours.follows(state):
                self._neighbours = Neighbours(state)
            if self._neighbours.sequence < state.sequence:
                self._neighbours.refresh(connection, repo_id, state)
            return self._neighbours


class Memories:
    """Those of the repositories used last."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Memory] = OrderedDict()

    def of(self, repo_id: int) -> Memory:
        """The memory of a repository, an empty one if it is new here."""
        with self._lock:
            memory = self._kept.setdefault(repo_id, Memory())
            self._kept.move_to_end(repo_id)
            while len(self._kept) > 1 and sum(one.size for one in self._kept.values()) > self._most:
                self._kept.popitem(last=False)
            return memory

    def forget(self, repo_id: int) -> None:
        with self._lock:
            self._kept.pop(repo_id, None)


def _count_all(connection: sa.Connection, repo_id: int, field: int, counts: NDArray[np.int32]) -> None:
    """Most terms occur in one issue only, so only those that occur in more are read."""
    counts[:] = 1
    first, last = lists.key(field, 0), lists.key(field, len(counts))
    statement = "SELECT list, issues FROM index_lists WHERE repo_id = %s AND list >= %s AND list < %s AND issues > 1"
    if connection.dialect.name == "sqlite":
        statement = statement.replace("%s", "?")
    cursor = connection.exec_driver_sql(statement, (repo_id, first, last)).cursor
    while rows := cursor.fetchmany(_ROWS):
        pairs = np.array(rows, dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]


def _count_changed(
    connection: sa.Connection, repo_id: int, field: int, counts: NDArray[np.int32], after: int, upto: int
) -> None:
    table = indexed_terms
    query = sa.select(table.c.terms).where(table.c.repo_id == repo_id, table.c.changed > after, table.c.changed <= upto)
    for blobs in connection.execution_options(yield_per=_ROWS).execute(query).scalars().partitions():
        np.add.at(counts, unpack_terms(blobs, [field])[0].terms, 1)
