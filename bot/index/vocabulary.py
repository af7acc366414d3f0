"""The numbers of terms: small integers, given out in order, so that statistics can be arrays."""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np
import sqlalchemy as sa

from bot.index.database import delete, fetch, insert
from bot.index.packing import Integers
from bot.store.index_tables import index_vocabulary as table


def look_up(connection: sa.Connection, repo_id: int, hashes: Collection[int]) -> dict[int, int]:
    """The numbers of those terms that the repository has, by their hashes."""
    return dict(fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, hashes))


def assign(connection: sa.Connection, repo_id: int, hashes: Integers, next_term: int) -> Integers:
    """The numbers of all these terms; new ones are numbered from `next_term` on. Only under the repository's lock."""
    # In the order of the key, so that neighbours are read and written together.
    values, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    known = fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, values.tolist())
    numbers = np.zeros(len(values), dtype=np.int64)
    pairs = np.fromiter(itertools.chain.from_iterable(known), np.int64, 2 * len(known)).reshape(-1, 2)
    numbers[np.searchsorted(values, pairs[:, 0])] = pairs[:, 1]
    fresh = np.flatnonzero(numbers == 0)
    numbers[fresh[np.argsort(first[fresh])]] = np.arange(next_term, next_term + len(fresh))
    rows = zip(itertools.repeat(repo_id), values[fresh].tolist(), numbers[fresh].tolist(), strict=False)
    insert(connection, table, list(rows))
    return numbers[places]


def forget(connection: sa.Connection, repo_id: int, terms: Collection[int]) -> None:
    """Give up terms that no issue has any more. Their numbers are not given out again."""
    delete(connection, table, repo_id, "term", list(terms))
