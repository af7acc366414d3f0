"""The numbers of terms: small integers, given out in order, so that statistics can be arrays.

Arrays are as long as the highest number is high, and who edits an issue all day with new words each time would let it
grow without end. So before the highest doubles, those that were given up are given out again if they are the most.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Collection
from typing import Any

import numpy as np
import sqlalchemy as sa

from bot.index.database import delete, fetch, upsert
from bot.index.postings.packing import Integers
from bot.store.tables.index import index_vocabulary as table

#: Up to this number nobody looks for those that were given up: an array of so many counts has a quarter of a megabyte.
SPARED = 1 << 16


def look_up(connection: sa.Connection, repo_id: int, hashes: Collection[int]) -> dict[int, int]:
    """The numbers of those terms that the repository has, by their hashes."""
    return dict(fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, hashes))


def assign(connection: sa.Connection, repo_id: int, hashes: Integers, next_term: int) -> Integers:
    """The numbers of all these terms; new ones get those from `next_term` on, or such as were given up. Only under the
    repository's lock.
    """
    # In the order of the key, so that neighbours are read and written together.
    values, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    known = fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, values.tolist())
    numbers = np.zeros(len(values), dtype=np.int64)
    pairs = np.fromiter(itertools.chain.from_iterable(known), np.int64, 2 * len(known)).reshape(-1, 2)
    numbers[np.searchsorted(values, pairs[:, 0])] = pairs[:, 1]
    fresh = np.flatnonzero(numbers == 0)
    numbers[fresh[np.argsort(first[fresh])]] = _unused(connection, repo_id, len(fresh), next_term)
    rows = zip(itertools.repeat(repo_id), values[fresh].tolist(), numbers[fresh].tolist(), strict=False)
    upsert(connection, table, list(rows))
    return numbers[places]


def forget(connection: sa.Connection, repo_id: int, terms: Collection[int]) -> None:
    """Give up terms that no issue has any more."""
    delete(connection, table, repo_id, "term", list(terms))


def _unused(connection: sa.Connection, repo_id: int, count: int, next_term: int) -> Integers:
    """So many numbers that no term has, in their order."""
    end = next_term + count
    if end > SPARED and end.bit_length() > next_term.bit_length():
        used: int = connection.execute(_terms(repo_id, sa.func.count())).scalar_one()
        if next_term - 1 - used >= max(count, next_term // 2):
            return _given_up(connection, repo_id, count, next_term)
    return np.arange(next_term, end)


def _given_up(connection: sa.Connection, repo_id: int, count: int, next_term: int) -> Integers:
    """So many of the numbers below the next one that no term has: all of them are too many to be looked through.

    It begins anywhere, since what was given out again lies where others began.
    """
    start, piece = secrets.randbelow(next_term - 1) + 1, 4 * count + 1_000
    found = np.zeros(0, dtype=np.int64)
    for first, last in ((start, next_term), (1, start)):
        for begin in range(first, last, piece):
            end = min(begin + piece, last)
            there = _terms(repo_id, table.c.term).where(table.c.term >= begin, table.c.term < end)
            used = np.fromiter(connection.execute(there).scalars(), np.int64)
            found = np.append(found, np.setdiff1d(np.arange(begin, end), used))
            if len(found) >= count:
                return np.sort(found[:count])
    raise AssertionError("they were counted")


def _terms(repo_id: int, column: sa.ColumnElement[int]) -> sa.Select[Any]:
    return sa.select(column).select_from(table).where(table.c.repo_id == repo_id)
