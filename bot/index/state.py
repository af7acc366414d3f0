"""What the index knows of a repository as a whole, in one row that is also its lock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index.database import fetch, upsert
from bot.store.database.engine import database_time
from bot.store.tables.index import index_states as table
from bot.store.tables.index import lock_index

_COLUMNS = tuple(table.columns)
_VERSION = tuple(table.c[name] for name in ("sequence", "issues", "next_term", "lengths", "model", "vectors"))

NO_KEYS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
NO_VECTORS: NDArray[np.float64] = np.zeros((0, 0))


class Version(NamedTuple):
    """What tells one state from another, without the vectors' sums: also from that of an index made anew meanwhile."""

    sequence: int
    issues: int
    next_term: int
    lengths: str
    model: str
    vectors: int


@dataclass(slots=True)
class State:
    """`sequence` counts changes, `issues` issues; `lengths` are the summed lengths of each field by its position.

    Of the vectors: the model that made them, how many there are, their sum, and the mean that they are centred by.
    `reading` is the version of the analyser that has read the issues.
    `before` is the version that a state under the lock changes, `left` the keys of the lists that issues leave by that;
    `lost_words` says that it gives up numbers of terms.
    """

    sequence: int = 0
    issues: int = 0
    next_term: int = 1
    lengths: dict[int, int] = field(default_factory=dict)
    model: str = ""
    vectors: int = 0
    vector_sum: NDArray[np.float64] = field(default_factory=lambda: NO_VECTORS)
    centre: NDArray[np.float64] = field(default_factory=lambda: NO_VECTORS)
    reading: int = 0

    before: Version | None = None
    left: NDArray[np.int64] = field(default_factory=lambda: NO_KEYS)
    lost_words: bool = False

    @property
    def version(self) -> Version:
        return Version(self.sequence, self.issues, self.next_term, _lengths(self.lengths), self.model, self.vectors)

    def average_length(self, position: int, without: int | None = None) -> float:
        """The mean length of a field, at least 1, so that it can be divided by.

        One issue is left out of it where `without` says how long that is.
        """
        total, issues = self.lengths.get(position, 0), self.issues
        if without is not None:
            total, issues = total - without, issues - 1
        return max(1.0, total / max(1, issues))


def load(connection: sa.Connection, repo_id: int, known: State | None = None) -> State:
    """The present state; an empty one for a repository that is not indexed.

    The state that is `known` is returned if it is the present one: then little is read.
    """
    if known is not None:
        rows = fetch(connection, repo_id, _VERSION, table.c.repo_id, [repo_id])
        if rows and Version(*rows[0]) == known.version:
            return known
    rows = fetch(connection, repo_id, _COLUMNS, table.c.repo_id, [repo_id])
    return _read(rows[0]) if rows else State()


def lock(connection: sa.Connection, repo_id: int) -> State:
    """The present state, which nobody else can change until the transaction ends; its sequence is a new one."""
    lock_index(connection, repo_id)
    state = load(connection, repo_id)
    state.before = state.version
    state.sequence = (state.sequence or _beginning(connection)) + 1
    return state


def save(connection: sa.Connection, repo_id: int, state: State) -> None:
    """Write the state back."""
    upsert(
        connection,
        table,
        [
            (
                repo_id,
                state.sequence,
                state.issues,
                state.next_term,
                _lengths(state.lengths),
                state.model,
                state.vectors,
                state.vector_sum.astype("<f8").tobytes(),
                state.centre.astype("<f8").tobytes(),
                state.reading,
            )
        ],
    )


def _beginning(connection: sa.Connection) -> int:
    """What an index that is made anew counts its changes from: it goes on above all that other processes may remember
    of the one before, whose clocks may be ahead of this one's.
    """
    now: float = connection.execute(sa.select(database_time(connection.engine))).scalar_one()
    return int(now * 1_000)


def _read(row: tuple[Any, ...]) -> State:
    _, sequence, issues, next_term, lengths, model, vectors, vector_sum, centre, reading = row
    by_position = {int(position): length for position, length in json.loads(lengths).items()}
    sums = _matrix(vector_sum), _matrix(centre)
    return State(sequence, issues, next_term, by_position, model, vectors, *sums, reading)


def _lengths(lengths: Mapping[int, int]) -> str:
    return json.dumps({str(position): length for position, length in lengths.items()})


def _matrix(blob: bytes) -> NDArray[np.float64]:
    return np.frombuffer(blob, dtype="<f8").reshape(2, -1) if blob else NO_VECTORS
