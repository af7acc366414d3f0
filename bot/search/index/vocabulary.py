"""The numbers of terms: small integers in order, so that statistics can be arrays.

The arrays are as long as the highest number. Somebody who edits an issue all day, with new words each time, could make
them grow without end. So before the highest number doubles, numbers that were given up are used again if they are many.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Collection
from typing import Any

import numpy as np
import sqlalchemy as sa

from bot.search.index.database import delete, fetch, upsert
from bot.search.index.packing import Integers
from bot.storage.schema import index_vocabulary as table

#: Below this no number is used again: an array of this length is a quarter of a megabyte.
SPARED = 1 << 16


def look_up(connection: sa.Connection, repo_id: int, hashes: Collection[int]) -> dict[int, int]:
    """The numbers of the terms that the repository has, by hash."""
    return dict(fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, hashes))


def assign(connection: sa.Connection, repo_id: int, hashes: Integers, next_term: int) -> Integers:
    """The numbers of all these terms, under the repository's lock; new terms get numbers from `next_term` on, or ones
    that were given up.
    """
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
    """`count` numbers that no term has, ascending."""
    end = next_term + count
    if end > SPARED and end.bit_length() > next_term.bit_length():
        used: int = connection.execute(_terms(repo_id, sa.func.count())).scalar_one()
        if next_term - 1 - used >= max(count, next_term // 2):
            return _given_up(connection, repo_id, count, next_term)
    return np.arange(next_term, end)


def _given_up(connection: sa.Connection, repo_id: int, count: int, next_term: int) -> Integers:
    """`count` numbers below `next_term` that no term has, searched piece by piece.

    The search starts at random, because earlier searches have used up the numbers where they started.
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
