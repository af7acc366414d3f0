"""Postings lists: in how many issues each term of each field occurs, and in which.

A list is one row with its count and its last few postings, its tail; a tail that has grown long is moved into a chunk.
So most terms cost one row to read, a new issue writes a bounded number of bytes for each of its terms, and what a query
reads is what its terms' counts say, however large the repository.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index.database import among, delete, fetch, upsert
from bot.index.postings.packing import Integers, Postings, numbers_of, read_postings
from bot.store.tables.index import index_chunks as chunks
from bot.store.tables.index import index_lists as lists

#: The longest tail in bytes: 96 postings, so that five such rows fit on a page of SQLite's.
TAIL = 96 * 8
#: A chunk grows until it has so many bytes, so that a long list is read in few pieces.
CHUNK = 2_048 * 8


#: A list's row: its key, in how many issues the term occurs, and the last postings. A plain tuple: there are many.
List = tuple[int, int, bytes]


class Change(NamedTuple):
    """What one change of the index adds to lists, and takes out of them.

    Entry by entry: the list's key with the posting that is added, and a list's key with the issue that leaves it.
    `since` is in which change that issue came, by number; `posted` are the positions of fields with postings.
    """

    added: Integers
    postings: Postings
    dropped: Integers
    numbers: Integers
    since: Mapping[int, int]
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
    return {row[0]: row for row in fetch(connection, repo_id, columns, lists.c.list, wanted)}


def issues_in(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, int]:
    """In how many issues the terms of those lists occur, by key; those that are empty are left out."""
    return dict(fetch(connection, repo_id, (lists.c.list, lists.c.issues), lists.c.list, wanted))


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
    tails = _without(connection, repo_id, known, leaving, change)
    rows: list[tuple[int, int, int, bytes]] = []
    sealed: dict[int, bytes] = {}
    empty: list[int] = []
    nothing = (0, 0, b"")
    for name in sorted(spans.keys() | leaving.keys()):
        start, end = spans.get(name, (0, 0))
        _, issues, tail = known.get(name, nothing)
        issues += end - start - len(leaving.get(name, ()))
        tail = tails.get(name, tail)
        if start < end and _posted(name, change):
            tail += raw[8 * start : 8 * end]
            if len(tail) > TAIL:
                sealed[name] = tail
                tail = b""
        if issues > 0:
            rows.append((repo_id, name, issues, tail))
        else:
            empty.append(name)
    upsert(connection, lists, rows)
    _seal(connection, repo_id, sealed, sequence)
    delete(connection, lists, repo_id, "list", empty)
    return np.array(empty, dtype=np.int64)


def _seal(connection: sa.Connection, repo_id: int, tails: Mapping[int, bytes], sequence: int) -> None:
    """Move tails into chunks: into the list's last one, where that is short. It is named after its latest postings."""
    last = sa.select(chunks.c.list, sa.func.max(chunks.c.chunk).label("chunk"))
    last = last.where(chunks.c.repo_id == repo_id, among(connection, chunks.c.list, tails)).group_by(chunks.c.list)
    rows, old = [], []
    for name, chunk, postings in connection.execute(_pieces(repo_id, last)).all() if tails else ():
        if len(postings) < CHUNK:
            rows.append((repo_id, name, sequence, postings + tails[name]))
            old.append((name, chunk))
    _drop(connection, repo_id, old)
    grown = {row[1] for row in rows}
    rows += [(repo_id, name, sequence, tail) for name, tail in tails.items() if name not in grown]
    upsert(connection, chunks, rows)


def _pieces(repo_id: int, chosen: sa.Select[Any]) -> sa.Select[Any]:
    """The chunks that a query names by `list` and `chunk`."""
    these = chosen.subquery()
    named = sa.and_(chunks.c.list == these.c.list, chunks.c.chunk == these.c.chunk)
    columns = sa.select(chunks.c.list, chunks.c.chunk, chunks.c.postings)
    return columns.join(these, named).where(chunks.c.repo_id == repo_id)


def _drop(connection: sa.Connection, repo_id: int, these: Sequence[tuple[int, int]]) -> None:
    """Delete chunks by list and name."""
    if these:
        mine = sa.and_(
            chunks.c.repo_id == repo_id, chunks.c.list == sa.bindparam("of"), chunks.c.chunk == sa.bindparam("named")
        )
        connection.execute(sa.delete(chunks).where(mine), [{"of": name, "named": chunk} for name, chunk in these])


def _posted(name: int, change: Change) -> bool:
    return name >> 32 in change.posted


def _without(
    connection: sa.Connection,
    repo_id: int,
    known: Mapping[int, List],
    leaving: Mapping[int, Collection[int]],
    change: Change,
) -> dict[int, bytes]:
    """The tails of lists without the issues that leave them. Those that are in chunks are taken out there."""
    tails: dict[int, bytes] = {}
    # By the change in which the issues came, list by list: together they are in one chunk of each.
    deep: dict[int, dict[int, list[int]]] = {}
    for name, numbers in leaving.items():
        if _posted(name, change):
            tail = read_postings(known[name][2])
            here = np.isin(numbers_of(tail), list(numbers))
            tails[name] = tail[~here].tobytes()
            for number in set(numbers) - set(numbers_of(tail[here]).tolist()):
                deep.setdefault(change.since[number], {}).setdefault(name, []).append(number)
    for since, those in deep.items():
        _take_out(connection, repo_id, those, since)
    return tails


def _take_out(connection: sa.Connection, repo_id: int, leaving: Mapping[int, Collection[int]], since: int) -> None:
    """Take issues that came in one change out of chunks, by list. A posting is in the first chunk from then on."""
    first = sa.select(chunks.c.list, sa.func.min(chunks.c.chunk).label("chunk"))
    first = first.where(chunks.c.repo_id == repo_id, among(connection, chunks.c.list, leaving), chunks.c.chunk >= since)
    rows, gone = [], []
    for name, chunk, blob in connection.execute(_pieces(repo_id, first.group_by(chunks.c.list))).all():
        postings = read_postings(blob)
        kept = postings[~np.isin(numbers_of(postings), list(leaving[name]))]
        if len(kept):
            rows.append((repo_id, name, chunk, kept.tobytes()))
        else:
            gone.append((name, chunk))
    upsert(connection, chunks, rows)
    _drop(connection, repo_id, gone)
