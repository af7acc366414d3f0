"""What a process keeps of a repository: how frequent each term is, the vectors, and the issues that were read lately.

The first two are read once, and then follow the changes by their sequence numbers, whichever process made them.
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

from bot.index import state as states
from bot.index.database import stream
from bot.index.issues import IndexedIssue
from bot.index.postings import lists
from bot.index.postings.lists import List
from bot.index.postings.packing import unpack_terms
from bot.index.state import State, Version
from bot.index.vectors.vectors import Neighbours, grown
from bot.store.tables.index import indexed_terms

T = TypeVar("T")


class Recent(Generic[T]):
    """What was read of single issues lately, by number, for as long as it is known to be current.

    Whoever changes some of them in this process says which; a change of another process is noticed by the repository's
    version, and makes everything be read anew. What has been kept longest goes first. Safe to share between threads.
    """

    def __init__(self, most_bytes: int, bytes_of: Callable[[T], int]) -> None:
        self._most, self._bytes_of = most_bytes, bytes_of
        self._lock = threading.Lock()
        self._version: Version | None = None
        self._kept: dict[int, T] = {}
        self.size = 0

    def get(self, version: Version, numbers: Iterable[int]) -> dict[int, T]:
        """Those of the issues that are known as they are in this version of the repository."""
        with self._lock:
            if version != self._version:
                return {}
            kept = self._kept
            return {number: kept[number] for number in numbers if number in kept}

    def keep(self, version: Version, found: Mapping[int, T]) -> None:
        """Remember what was read after the repository was seen to be of this version.

        It may be newer than that, since what has changed meanwhile is dropped as soon as the change is known.
        """
        with self._lock:
            if version != self._version:
                # Whoever still reads an older version makes the others begin anew; nobody is told what is outdated.
                self._version, self.size = version, 0
                self._kept.clear()
            for number in self._kept.keys() & found.keys():
                self._drop(number)
            self._kept.update(found)
            self.size += sum(map(self._bytes_of, found.values()))
            while self.size > self._most and self._kept:
                self._drop(next(iter(self._kept)))

    def follow(self, before: Version, after: Version, numbers: Collection[int]) -> None:
        """This process has changed these issues, and made one version of another; all other issues are as they were."""
        with self._lock:
            if self._version == before:
                self._version = after
                for number in numbers:
                    self._drop(number)

    def _drop(self, number: int) -> None:
        one = self._kept.pop(number, None)
        if one is not None:
            self.size -= self._bytes_of(one)


#: Of all repositories together; the least recently used are forgotten first.
MOST_BYTES = 128 << 20
#: Of one repository: of its issues without their bodies, and of their terms.
MOST_ISSUES, MOST_TERMS = 16 << 20, 40 << 20
#: Of the words that were asked for lately: their numbers, and the lists of the issues that have them. Every issue has
#: words that no other has, so what is kept of the first would fill any bound, and is read again in no time.
MOST_WORDS, MOST_LISTS, MOST_CHUNKS = 1 << 20, 8 << 20, 16 << 20
#: So many changed issues, and one in a hundred, are counted by looking up their words.
FEW_CHANGED = 50
#: Where issues have left more lists than this, all words are counted anew.
MOST_LEFT = 20_000

_ROWS = 10_000
# What there is of any repository: the sums of its vectors, their centre, and what is empty yet.
_OWN_BYTES = 20_000
# The tuple of an issue, its numbers and its place in a dictionary.
_ISSUE_BYTES = 500
# A number, a row with a key and a count, and the place in a dictionary.
_WORD_BYTES = 200


class Memory:
    """One repository's. Safe to share between threads.

    `reading` is held while much is read at once, for which several times as much memory is needed as is kept.
    """

    def __init__(self, reading: threading.Lock) -> None:
        self._lock = threading.Lock()
        self._reading = reading
        self._state: State | None = None
        # By field, of which each array has room for terms to come; all up to one change.
        self._frequencies: dict[int, NDArray[np.int32]] = {}
        # By field, what a term without a list there counts: whoever followed the changes says so as who has just read.
        self._absent: dict[int, int] = {}
        self._counted = 0
        # The keys of the lists that issues have left since, each with the change in which they did.
        self._left: dict[int, int] = {}
        self._neighbours = Neighbours(State())
        self.issues: Recent[IndexedIssue] = Recent(MOST_ISSUES, _issue_bytes)
        # As `packing.aligned` gives them.
        self.terms: Recent[bytes] = Recent(MOST_TERMS, lambda blob: _WORD_BYTES + len(blob))
        self.vocabulary: Recent[int] = Recent(MOST_WORDS, lambda _: _WORD_BYTES)
        # Not followed: what is asked about a new issue are the very lists that its coming has changed. They serve
        # those who ask many things between two changes, as a scan does.
        self.lists: Recent[List] = Recent(MOST_LISTS, lambda row: _WORD_BYTES + len(row[2]))
        self.chunks: Recent[list[bytes]] = Recent(MOST_CHUNKS, lambda parts: _WORD_BYTES + sum(map(len, parts)))

    @property
    def size(self) -> int:
        """Bytes."""
        # A copy, because another thread may begin a field meanwhile.
        counts = sum(counts.nbytes for counts in list(self._frequencies.values()))
        read = (self.issues, self.terms, self.vocabulary, self.lists, self.chunks)
        return _OWN_BYTES + self._neighbours.size + counts + sum(recent.size for recent in read)

    @property
    def model(self) -> str:
        """The name of the model that made the vectors, when the state was read last; empty where there are none."""
        return "" if self._state is None else self._state.model

    def state(self, connection: sa.Connection, repo_id: int) -> State:
        """The present state, for reading only."""
        self._state = states.load(connection, repo_id, self._state)
        return self._state

    def follow(self, before: Version, state: State, numbers: Collection[int]) -> None:
        """This process has changed these issues, and made this state of the repository of the version before."""
        self.issues.follow(before, state.version, numbers)
        self.terms.follow(before, state.version, numbers)
        if not state.lost_words:
            self.vocabulary.follow(before, state.version, ())
        if len(state.left):
            with self._lock:
                # What is more is not looked up anyway.
                if self._frequencies and len(self._left) <= MOST_LEFT:
                    self._left |= dict.fromkeys(state.left.tolist(), state.sequence)

    def frequencies(
        self, connection: sa.Connection, repo_id: int, field: int, state: State, *, narrow: bool
    ) -> NDArray[np.int32]:
        """In how many issues each term occurs in a field, by the term's number.

        A term that a `narrow` field does not have counts 0 there. Other fields have nearly all of their terms, most of
        them in one issue: so those are not read, and a term without a list counts 1.
        Of what other processes take out or edit, the words that an issue has no more are counted on until somebody
        changes another issue that has them.
        """
        with self._lock:
            if self._counted < state.sequence:
                if self._frequencies and (
                    # Another process has forgotten the repository, and filled it with terms of other numbers.
                    not _is_left(connection, repo_id, self._counted)
                    # To look up the words of so many takes longer than to count all.
                    or _changed(connection, repo_id, self._counted) > FEW_CHANGED + state.issues // 100
                    or len(self._left) > MOST_LEFT
                ):
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
                    # Who began before a change that the other fields have would count what it changed never again.
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
    """Those of the repositories used last."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._kept: OrderedDict[int, Memory] = OrderedDict()
        # As counted when each was used last: to count thousands for every question would take longer than to answer it.
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
        """Count what a repository has grown to, and forget those used least recently if all are too much now."""
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
    """All that count something else than those that are absent, some at a time."""
    counts = np.full(terms, absent, dtype=np.int32)
    first, last = lists.key(field, 0), lists.key(field, terms)
    query = "SELECT list, issues FROM index_lists WHERE repo_id = %s AND list >= %s AND list < %s AND issues > %s"
    for rows in stream(connection, query, (repo_id, first, last, absent), _ROWS):
        pairs = np.array(rows, dtype=np.int64)
        counts[pairs[:, 0] - first] = pairs[:, 1]
    return counts


def _is_left(connection: sa.Connection, repo_id: int, upto: int) -> bool:
    """Whether any issue has not changed since a change."""
    table = indexed_terms
    query = sa.select(table.c.number).where(table.c.repo_id == repo_id, table.c.changed <= upto).limit(1)
    return connection.execute(query).first() is not None


def _changed(connection: sa.Connection, repo_id: int, after: int) -> int:
    """How many issues have changed since a change."""
    table = indexed_terms
    query = sa.select(sa.func.count()).where(table.c.repo_id == repo_id, table.c.changed > after)
    return int(connection.execute(query).scalar_one())


def _count_changed(
    connection: sa.Connection,
    repo_id: int,
    counts: Mapping[int, NDArray[np.int32]],
    absent: Mapping[int, int],
    after: int,
    left: Collection[int],
) -> None:
    """Bring the counts up to date of all words of issues that have changed, and of the lists that some have `left`."""
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
