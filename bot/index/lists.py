"""Postings lists: in how many issues each term of each field occurs, and in which.

A list is one row with its count and its last few postings, its tail; a tail that has grown long is moved into a chunk.
So most terms cost one row to read, a new issue writes a bounded number of bytes for each of its terms, and what a query
reads is what its terms' counts say, however large the repository.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index.database import among, delete, fetch, upsert
from bot.index.packing import Integers, Postings, numbers_of, read_postings
from bot.store.index_tables import index_chunks as chunks
from bot.store.index_tables import index_lists as lists

#: The longest tail in bytes: 96 postings, so that five such rows fit on a page of SQLite's.
TAIL = 96 * 8


class List(NamedTuple):
    """A list's row: in how many issues the term occurs, and the last postings."""

    issues: int
    tail: bytes


class Change(NamedTuple):
    """What one change of the index adds to lists, and takes out of them.

    Entry by entry: the list's key with the posting that is added, and a list's key with the number of the issue that
    leaves it. `posted` tells of a key whether its list has postings at all.
    """

    added: Integers
    postings: Postings
    dropped: Integers
    numbers: Integers
    posted: Collection[int]


def key(field: int, term: int) -> int:
    """A list's key: the field's position and the term's number."""
    return field << 32 | term


def keys(field: int, terms: NDArray[Any]) -> Integers:
    """The same for many terms."""
    return np.int64(field << 32) | terms.astype(np.int64)


def look_up(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, List]:
    """The rows of those lists that are not empty, by key."""
    columns = (lists.c.list, lists.c.issues, lists.c.tail)
    return {row[0]: List(row[1], row[2]) for row in fetch(connection, repo_id, columns, lists.c.list, wanted)}


def chunks_of(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, list[bytes]]:
    """What has been moved out of the tails of these lists, by key."""
    found: dict[int, list[bytes]] = {}
    for name, postings in fetch(connection, repo_id, (chunks.c.list, chunks.c.postings), chunks.c.list, wanted):
        found.setdefault(name, []).append(postings)
    return found


def apply(connection: sa.Connection, repo_id: int, change: Change, sequence: int) -> Integers:
    """Change lists, under the repository's lock; returns the keys of those that have become empty.

    `sequence` is new with every change, and names the chunks that it makes.
    """
    order = np.argsort(change.added, kind="stable")
    added, starts = np.unique(change.added[order], return_index=True)
    ends = np.append(starts, len(order))[1:]
    raw = change.postings[order].astype("<u8").tobytes()
    spans = dict(zip(added.tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
    leaving: dict[int, list[int]] = {}
    for name, number in zip(change.dropped.tolist(), change.numbers.tolist(), strict=True):
        leaving.setdefault(name, []).append(number)
    known = look_up(connection, repo_id, list(spans.keys() | leaving.keys()))
    tails = _without(connection, repo_id, known, {name: out for name, out in leaving.items() if _posted(name, change)})
    rows: list[tuple[int, int, int, bytes]] = []
    sealed: list[tuple[int, int, int, bytes]] = []
    empty: list[int] = []
    nothing = List(0, b"")
    for name in sorted(spans.keys() | leaving.keys()):
        start, end = spans.get(name, (0, 0))
        old = known.get(name, nothing)
        issues = old.issues + end - start - len(leaving.get(name, ()))
        tail = tails.get(name, old.tail)
        if start < end and _posted(name, change):
            tail += raw[8 * start : 8 * end]
            if len(tail) > TAIL:
                sealed.append((repo_id, name, sequence, tail))
                tail = b""
        if issues > 0:
            rows.append((repo_id, name, issues, tail))
        else:
            empty.append(name)
    upsert(connection, lists, rows)
    upsert(connection, chunks, sealed)
    delete(connection, lists, repo_id, "list", empty)
    return np.array(empty, dtype=np.int64)


def _posted(name: int, change: Change) -> bool:
    return name >> 32 in change.posted


def _without(
    connection: sa.Connection, repo_id: int, known: Mapping[int, List], leaving: Mapping[int, Collection[int]]
) -> dict[int, bytes]:
    """The tails of lists without the issues that leave them. Those that are in chunks are taken out there."""
    tails: dict[int, bytes] = {}
    deep: dict[int, Collection[int]] = {}
    for name, numbers in leaving.items():
        tail = known[name].tail
        tails[name] = _filtered(tail, numbers)
        if len(tail) - len(tails[name]) < 8 * len(numbers):
            deep[name] = numbers
    if not deep:
        return tails
    query = sa.select(chunks.c.list, chunks.c.chunk, chunks.c.postings).where(
        chunks.c.repo_id == repo_id, among(connection, chunks.c.list, deep)
    )
    changed: list[tuple[int, int, int, bytes]] = []
    for name, chunk, postings in connection.execute(query):
        kept = _filtered(postings, deep[name])
        if len(kept) < len(postings):
            changed.append((repo_id, name, chunk, kept))
    upsert(connection, chunks, [row for row in changed if row[3]])
    for _, name, chunk, kept in changed:
        if not kept:
            mine = sa.and_(chunks.c.repo_id == repo_id, chunks.c.list == name, chunks.c.chunk == chunk)
            connection.execute(sa.delete(chunks).where(mine))
    return tails


def _filtered(postings: bytes, numbers: Collection[int]) -> bytes:
    entries = read_postings(postings)
    return entries[~np.isin(numbers_of(entries), list(numbers))].tobytes()
