"""The inverted index: the vocabulary, which gives terms numbers, and a list of postings for each term of each field.

Terms get ascending numbers, so that statistics can be arrays with an entry for each number. Somebody who edits an issue
all day, with new words each time, could make the numbers grow without end. So if the numbers would pass a power of two
while at least half of them are unused, new terms get unused numbers.

A list has one row: the count of its issues, and the tail (its latest postings). A long tail moves
into a chunk, a row of another table. So a search reads only one row for most terms, and a new issue writes a bounded
number of bytes for each term.
"""

from __future__ import annotations

import itertools
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.index.analysis import Analysis, Field, hashes
from bot.search.index.arrays import (
    MOST_COUNTED,
    Bags,
    Integers,
    Postings,
    numbers_of,
    pack_postings,
    pack_terms,
    read_postings,
    unpack_terms,
)
from bot.search.index.database import among, delete, fetch, upsert
from bot.storage.schema import index_chunks as chunks
from bot.storage.schema import index_lists as lists
from bot.storage.schema import index_vocabulary as vocabulary

#: While all numbers are below this, numbers are not reused: a field's statistics take at most a quarter of a megabyte.
SPARED = 1 << 16


def term_numbers(connection: sa.Connection, repo_id: int, term_hashes: Collection[int]) -> dict[int, int]:
    """The numbers of the terms that the repository knows, by hash."""
    return dict(fetch(connection, repo_id, (vocabulary.c.hash, vocabulary.c.term), vocabulary.c.hash, term_hashes))


def number_terms(connection: sa.Connection, repo_id: int, term_hashes: Integers, next_term: int) -> Integers:
    """Return the number of each term, and store new terms. The caller holds the repository's lock.

    New terms get numbers from `next_term` on, or free numbers, in the order of their first occurrence.
    """
    values, first, inverse = np.unique(term_hashes, return_index=True, return_inverse=True)
    known = term_numbers(connection, repo_id, values.tolist())
    numbers = np.zeros(len(values), dtype=np.int64)
    known_rows = np.searchsorted(values, np.fromiter(known.keys(), np.int64, len(known)))
    numbers[known_rows] = np.fromiter(known.values(), np.int64, len(known))
    fresh = np.flatnonzero(numbers == 0)
    by_occurrence = fresh[np.argsort(first[fresh])]
    numbers[by_occurrence] = _free_numbers(connection, repo_id, len(fresh), next_term)
    rows = zip(itertools.repeat(repo_id), values[fresh].tolist(), numbers[fresh].tolist(), strict=False)
    upsert(connection, vocabulary, list(rows))
    return numbers[inverse]


def forget_terms(connection: sa.Connection, repo_id: int, terms: Collection[int]) -> None:
    """Free the numbers of terms that no issue has any more."""
    delete(connection, vocabulary, repo_id, "term", list(terms))


def _free_numbers(connection: sa.Connection, repo_id: int, count: int, next_term: int) -> Integers:
    """`count` numbers that no term has, ascending."""
    end = next_term + count
    # Reuse free numbers if the numbers would pass a power of two while at least half of those given so far are free.
    if end > SPARED and end.bit_length() > next_term.bit_length():
        free: int = next_term - 1 - connection.execute(_select_terms(repo_id, sa.func.count())).scalar_one()
        if free >= max(count, next_term // 2):
            return _reusable_numbers(connection, repo_id, count, next_term)
    return np.arange(next_term, end)


def _reusable_numbers(connection: sa.Connection, repo_id: int, count: int, next_term: int) -> Integers:
    """`count` free numbers below `next_term`, searched piece by piece.

    The search starts at a random number: near a fixed start, earlier searches would have used up the free numbers.
    """
    start, piece = secrets.randbelow(next_term - 1) + 1, 4 * count + 1_000
    free = np.zeros(0, dtype=np.int64)
    for first, last in ((start, next_term), (1, start)):
        for begin in range(first, last, piece):
            end = min(begin + piece, last)
            query = _select_terms(repo_id, vocabulary.c.term).where(vocabulary.c.term >= begin, vocabulary.c.term < end)
            used = np.fromiter(connection.execute(query).scalars(), np.int64)
            free = np.append(free, np.setdiff1d(np.arange(begin, end), used))
            if len(free) >= count:
                return np.sort(free[:count])
    raise AssertionError("the caller counted enough free numbers")


def _select_terms(repo_id: int, column: sa.ColumnElement[int]) -> sa.Select[Any]:
    return sa.select(column).select_from(vocabulary).where(vocabulary.c.repo_id == repo_id)


#: The longest tail in bytes: 96 postings, so that five such rows fit on a page of SQLite.
TAIL = 96 * 8
#: A chunk grows until it has this many bytes, so that a long list is read in few pieces.
CHUNK = 2_048 * 8

#: A list's row: its key, the number of issues that have the term, and the tail.
PostingsList = tuple[int, int, bytes]


class PostingsChange(NamedTuple):
    """The postings that one change of the index adds to lists and removes from lists.

    The list with the key `added[i]` gets the posting `postings[i]`. The issue `numbers[i]` leaves the list with the key
    `dropped[i]`; `since` maps the issue to the change that added its postings. `posted` has the positions of
    searchable fields. In other fields, a list has only the count of its issues; its tail is empty.
    """

    added: Integers
    postings: Postings
    dropped: Integers
    numbers: Integers
    since: Mapping[int, int]
    posted: Collection[int]


def list_key(field: int, term: int) -> int:
    """A list's key: the field's position (high 32 bits) and the term's number (low 32 bits)."""
    return field << 32 | term


def list_keys(field: int, terms: NDArray[Any]) -> Integers:
    """`list_key` for many terms."""
    return np.int64(field << 32) | terms.astype(np.int64)


def read_lists(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, PostingsList]:
    """The rows of those lists that exist, by key."""
    columns = (lists.c.list, lists.c.issues, lists.c.tail)
    return {row[0]: row for row in fetch(connection, repo_id, columns, lists.c.list, wanted)}


def issues_in(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, int]:
    """How many issues are in these lists, by key."""
    return dict(fetch(connection, repo_id, (lists.c.list, lists.c.issues), lists.c.list, wanted))


def chunks_of(connection: sa.Connection, repo_id: int, wanted: Collection[int]) -> dict[int, list[bytes]]:
    """The chunks of these lists, by key."""
    by_key: dict[int, list[bytes]] = {}
    for key, postings in fetch(connection, repo_id, (chunks.c.list, chunks.c.postings), chunks.c.list, wanted):
        by_key.setdefault(key, []).append(postings)
    return by_key


def update_postings(connection: sa.Connection, repo_id: int, change: PostingsChange, sequence: int) -> Integers:
    """Change lists, and return the keys of lists that are empty now. The caller holds the repository's lock.

    `sequence` is the number of this change.
    """
    # `raw` has the new postings, sorted by list, 8 bytes each. `spans` maps each list's key to its range of postings.
    order = np.argsort(change.added, kind="stable")
    added, starts = np.unique(change.added[order], return_index=True)
    ends = np.append(starts, len(order))[1:]
    raw = change.postings[order].astype("<u8").tobytes()
    spans = dict(zip(added.tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
    leaving: dict[int, list[int]] = {}
    for key, number in zip(change.dropped.tolist(), change.numbers.tolist(), strict=True):
        leaving.setdefault(key, []).append(number)
    known = read_lists(connection, repo_id, list(spans.keys() | leaving.keys()))
    tails = _shortened_tails(connection, repo_id, known, leaving, change)
    rows: list[tuple[int, int, int, bytes]] = []
    long_tails: dict[int, bytes] = {}
    empty: list[int] = []
    no_list = (0, 0, b"")
    for key in sorted(spans.keys() | leaving.keys()):
        start, end = spans.get(key, (0, 0))
        _, issues, tail = known.get(key, no_list)
        issues += end - start - len(leaving.get(key, ()))
        tail = tails.get(key, tail)
        if start < end and key >> 32 in change.posted:
            tail += raw[8 * start : 8 * end]
            if len(tail) > TAIL:
                long_tails[key] = tail
                tail = b""
        if issues > 0:
            rows.append((repo_id, key, issues, tail))
        else:
            empty.append(key)
    upsert(connection, lists, rows)
    _move_into_chunks(connection, repo_id, long_tails, sequence)
    delete(connection, lists, repo_id, "list", empty)
    return np.array(empty, dtype=np.int64)


def _move_into_chunks(connection: sa.Connection, repo_id: int, tails: Mapping[int, bytes], sequence: int) -> None:
    """Append each tail to the list's last chunk, or make a new chunk if the last chunk is long.

    The number of a chunk is the number of the last change that added postings to the chunk.
    """
    if not tails:
        return
    last = sa.select(chunks.c.list, sa.func.max(chunks.c.chunk).label("chunk"))
    last = last.where(chunks.c.repo_id == repo_id, among(connection, chunks.c.list, tails)).group_by(chunks.c.list)
    rows, old = [], []
    for key, chunk, postings in connection.execute(_select_chunks(repo_id, last)).all():
        if len(postings) < CHUNK:
            rows.append((repo_id, key, sequence, postings + tails[key]))
            old.append((key, chunk))
    _delete_chunks(connection, repo_id, old)
    grown = {row[1] for row in rows}
    rows += [(repo_id, key, sequence, tail) for key, tail in tails.items() if key not in grown]
    upsert(connection, chunks, rows)


def _select_chunks(repo_id: int, query: sa.Select[Any]) -> sa.Select[Any]:
    """The chunks whose list and number `query` selects."""
    chosen = query.subquery()
    same_chunk = sa.and_(chunks.c.list == chosen.c.list, chunks.c.chunk == chosen.c.chunk)
    columns = sa.select(chunks.c.list, chunks.c.chunk, chunks.c.postings)
    return columns.join(chosen, same_chunk).where(chunks.c.repo_id == repo_id)


def _delete_chunks(connection: sa.Connection, repo_id: int, pairs: Sequence[tuple[int, int]]) -> None:
    if pairs:
        where = sa.and_(
            chunks.c.repo_id == repo_id, chunks.c.list == sa.bindparam("key"), chunks.c.chunk == sa.bindparam("number")
        )
        connection.execute(sa.delete(chunks).where(where), [{"key": key, "number": chunk} for key, chunk in pairs])


def _shortened_tails(
    connection: sa.Connection,
    repo_id: int,
    known: Mapping[int, PostingsList],
    leaving: Mapping[int, Collection[int]],
    change: PostingsChange,
) -> dict[int, bytes]:
    """Remove the `leaving` issues from their lists. Returns the shorter tails; chunks change in the database."""
    tails: dict[int, bytes] = {}
    # Issues to remove from chunks, by the change that added them, then by list. One change adds to at most one chunk of
    # a list, so the change tells which chunk has the issue.
    in_chunks: dict[int, dict[int, list[int]]] = {}
    for key, numbers in leaving.items():
        if key >> 32 in change.posted:
            tail = read_postings(known[key][2])
            in_tail = numbers_of(tail)
            tails[key] = tail[~np.isin(in_tail, list(numbers))].tobytes()
            for number in set(numbers).difference(in_tail.tolist()):
                in_chunks.setdefault(change.since[number], {}).setdefault(key, []).append(number)
    for since, by_list in in_chunks.items():
        _remove_from_chunks(connection, repo_id, by_list, since)
    return tails


def _remove_from_chunks(
    connection: sa.Connection, repo_id: int, leaving: Mapping[int, Collection[int]], since: int
) -> None:
    """Remove issues that the change `since` added.

    In each list, the issues' postings are in the first chunk with a number of at least `since`.
    """
    first = sa.select(chunks.c.list, sa.func.min(chunks.c.chunk).label("chunk"))
    first = first.where(chunks.c.repo_id == repo_id, among(connection, chunks.c.list, leaving), chunks.c.chunk >= since)
    rows, empty = [], []
    for key, chunk, blob in connection.execute(_select_chunks(repo_id, first.group_by(chunks.c.list))).all():
        postings = read_postings(blob)
        remaining = postings[~np.isin(numbers_of(postings), list(leaving[key]))]
        if len(remaining):
            rows.append((repo_id, key, chunk, remaining.tobytes()))
        else:
            empty.append((key, chunk))
    upsert(connection, chunks, rows)
    _delete_chunks(connection, repo_id, empty)


class Batch:
    """Analysed issues to write in a single change. `hashes` has one hash for each distinct term."""

    def __init__(self, fields: Sequence[Field], analyses: Mapping[int, Analysis]) -> None:
        self._fields = fields
        self.numbers: Integers = np.array(list(analyses), dtype=np.int64)
        next_position = itertools.count()
        # Fields in the same space share terms. When a term is first looked up, it gets the next position in `hashes`.
        spaces: dict[str, dict[str, int]] = {field.space: defaultdict(next_position.__next__) for field in fields}
        # For each field, the three arrays from `_column`. An entry is one term of one issue.
        self._columns = [_column(field.name, spaces[field.space], analyses.values()) for field in fields]
        self.hashes: Integers = np.zeros(sum(map(len, spaces.values())), dtype=np.int64)
        for space, positions in spaces.items():
            self.hashes[np.fromiter(positions.values(), np.int64, len(positions))] = hashes(space, positions)
        self.lengths = [
            np.bincount(rows, counts, len(self.numbers)).astype(np.int64) for rows, _, counts in self._columns
        ]

    def entries(self, term_numbers: Integers) -> tuple[Integers, Postings, list[bytes]]:
        """The list key and the posting of each entry, and the packed terms of each issue.

        `term_numbers` has the number of each term in `hashes`.
        """
        added, postings, fields = list[Integers](), list[Postings](), list[Bags]()
        for position, ((rows, indices, counts), lengths) in enumerate(zip(self._columns, self.lengths, strict=True)):
            terms = term_numbers[indices]
            order = np.argsort(rows << 32 | terms)
            rows, terms, counts = rows[order], terms[order], counts[order]
            added.append(list_keys(position, terms))
            postings.append(pack_postings(self.numbers[rows], lengths[rows], counts))
            starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(self.numbers)))))
            fields.append(Bags(starts, terms.astype(np.uint32), counts.astype(np.uint8)))
        return np.concatenate(added), np.concatenate(postings), pack_terms(fields, len(self.numbers))


def stored_entries(blobs: Mapping[int, bytes], fields: int) -> tuple[Integers, Integers, list[int]]:
    """Unpack each issue's terms. Returns each entry's list key and issue number, and each field's total length."""
    numbers = np.array(list(blobs), dtype=np.int64)
    bags = unpack_terms(list(blobs.values()), range(fields))
    keys = [list_keys(position, bag.terms) for position, bag in enumerate(bags)]
    lengths = [int(bag.counts.sum(dtype=np.int64)) for bag in bags]
    return np.concatenate(keys), np.concatenate([numbers[bag.rows] for bag in bags]), lengths


def _column(name: str, positions: dict[str, int], analyses: Iterable[Analysis]) -> tuple[Integers, Integers, Integers]:
    """For each entry of a field: the issue's position, the term's position in `Batch.hashes`, and the term's count."""
    bags = [analysis.terms.get(name, {}) for analysis in analyses]
    sizes = np.fromiter(map(len, bags), np.int64, len(bags))
    total = int(sizes.sum())
    terms = itertools.chain.from_iterable(bags)
    indices = np.fromiter(map(positions.__getitem__, terms), np.int64, total)
    counts = np.fromiter(itertools.chain.from_iterable([bag.values() for bag in bags]), np.int64, total)
    # Limit counts as the database does, so that removing an issue subtracts exactly its length.
    return np.repeat(np.arange(len(bags)), sizes), indices, np.minimum(counts, MOST_COUNTED)
