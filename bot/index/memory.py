"""What a process keeps of a repository: how frequent each term is, and the signs of the vectors.

Both are small (4 bytes a term, 96 bytes an issue at 256 dimensions), are read once, and then follow the changes by
their sequence numbers, whichever process made them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import lists, vectors
from bot.index.packing import Integers, unpack_terms
from bot.index.state import State
from bot.index.vectors import Kind
from bot.store.index_tables import index_lists, indexed_terms, indexed_vectors

#: Of all repositories together; the least recently used are forgotten first.
MOST_BYTES = 128 << 20

_ROWS = 10_000


class Memory:
    """One repository's. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frequencies: dict[int, tuple[int, NDArray[np.int32]]] = {}
        self._signs = Signs(State())

    @property
    def size(self) -> int:
        """Bytes."""
        return self._signs.size + sum(counts.nbytes for _, counts in self._frequencies.values())

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

    def signs(self, connection: sa.Connection, repo_id: int, state: State) -> Signs:
        """The signs of all vectors, as they are now."""
        with self._lock:
            if not self._signs.follows(state):
                self._signs = Signs(state)
            if self._signs.sequence < state.sequence:
                self._signs = self._signs.refreshed(connection, repo_id, state.sequence)
            return self._signs


class Signs:
    """A bit for each dimension of each vector, around the repository's centre. Not changed once made."""

    def __init__(self, state: State) -> None:
        self.model, self.centre = state.model, state.centre
        self.sequence = -1
        self.numbers: Integers = np.zeros(0, dtype=np.int64)
        self._bits: NDArray[np.uint64] = np.zeros((len(Kind), 0, 0), dtype=np.uint64)

    @property
    def size(self) -> int:
        return self.numbers.nbytes + self._bits.nbytes

    def follows(self, state: State) -> bool:
        """Whether these are of the same model, around the same centre."""
        return self.model == state.model and np.array_equal(self.centre, state.centre)

    def refreshed(self, connection: sa.Connection, repo_id: int, sequence: int) -> Signs:
        """With the vectors that have changed since."""
        query = sa.select(indexed_vectors.c.number, indexed_vectors.c.vectors)
        changed = query.where(indexed_vectors.c.repo_id == repo_id, indexed_vectors.c.changed > self.sequence)
        numbers: list[Integers] = []
        bits: list[NDArray[np.uint64]] = []
        for rows in connection.execution_options(yield_per=_ROWS).execute(changed).partitions():
            numbers.append(np.array([row[0] for row in rows], dtype=np.int64))
            around = vectors.centred(vectors.unpack([row[1] for row in rows]), self.centre)
            bits.append(_bits(around.transpose(1, 0, 2)))
        made = Signs.__new__(Signs)
        made.model, made.centre, made.sequence = self.model, self.centre, sequence
        made.numbers, made._bits = self.numbers, self._bits
        if numbers:
            new = np.concatenate(numbers)
            kept = ~np.isin(self.numbers, new)
            made.numbers = np.concatenate([self.numbers[kept], new])
            made._bits = np.concatenate([*([self._bits[:, kept]] if len(self.numbers) else []), *bits], axis=1)
        return made

    def closest(self, vector: vectors.Vectors, kind: Kind, k: int, below: int | None = None) -> Integers:
        """The numbers of the k issues whose signs differ least from the vector's, in no order."""
        if not len(self.numbers):
            return self.numbers
        apart = np.bitwise_count(self._bits[kind] ^ _bits(vector[None])[0]).sum(axis=1, dtype=np.uint16)
        if below is not None:
            apart[self.numbers >= below] = np.iinfo(np.uint16).max
        picked = np.argpartition(apart, k)[:k] if len(apart) > k else np.arange(len(apart))
        return np.asarray(self.numbers[picked[apart[picked] < np.iinfo(np.uint16).max]], dtype=np.int64)


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


def _bits(values: vectors.Vectors) -> NDArray[np.uint64]:
    """The signs along the last axis, 64 in a word."""
    packed = np.packbits(values > 0, axis=-1)
    words = -(-packed.shape[-1] // 8)
    padded = np.zeros((*packed.shape[:-1], 8 * words), dtype=np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint64)


def _count_all(connection: sa.Connection, repo_id: int, field: int, counts: NDArray[np.int32]) -> None:
    table = index_lists
    first, last = lists.key(field, 0), lists.key(field + 1, 0)
    query = sa.select(table.c.list, table.c.issues).where(
        table.c.repo_id == repo_id, table.c.list >= first, table.c.list < last
    )
    for rows in connection.execution_options(yield_per=_ROWS).execute(query).partitions():
        pairs = np.array([tuple(row) for row in rows], dtype=np.int64)
        known = pairs[pairs[:, 0] - first < len(counts)]
        counts[known[:, 0] - first] = known[:, 1]


def _count_changed(
    connection: sa.Connection, repo_id: int, field: int, counts: NDArray[np.int32], after: int, upto: int
) -> None:
    table = indexed_terms
    query = sa.select(table.c.terms).where(table.c.repo_id == repo_id, table.c.changed > after, table.c.changed <= upto)
    for blobs in connection.execution_options(yield_per=_ROWS).execute(query).scalars().partitions():
        np.add.at(counts, unpack_terms(blobs, field).terms, 1)
