"""What the index knows of a repository as a whole, in one row that is also its lock."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.index.database import fetch, upsert
from bot.storage.engine import database_time
from bot.storage.schema import index_states as table
from bot.storage.schema import lock_index

NO_KEYS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
NO_VECTORS: NDArray[np.float64] = np.zeros((0, 0))


class Version(NamedTuple):
    """What tells one state from another, even from the state of an index that was made anew meanwhile."""

    sequence: int
    issues: int
    next_term: int
    lengths: str
    model: str
    vectors: int


@dataclass(slots=True)
class State:
    """One repository's totals.

    `sequence` counts changes; `lengths` holds the summed length of each field, by the field's position. `model` made
    the `vectors`, which are counted here; `vector_sum` is their sum and `centre` the mean they are centred by. The
    analyser's version `reading` has read the issues.

    The last three describe a change that is being made under the lock: the version `before` it, the keys of the lists
    that issues have `left`, and whether numbers of terms were given up.
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
        lengths = json.dumps(self.lengths)
        return Version(self.sequence, self.issues, self.next_term, lengths, self.model, self.vectors)

    def average_length(self, position: int, without: int | None = None) -> float:
        """The mean length of a field, at least 1; `without` is the length of one issue that does not count."""
        total, issues = self.lengths.get(position, 0), self.issues
        if without is not None:
            total, issues = total - without, issues - 1
        return max(1.0, total / max(1, issues))


def load(connection: sa.Connection, repo_id: int) -> State:
    """Read the state; an empty one for a repository that is not indexed."""
    rows = fetch(connection, repo_id, tuple(table.columns), table.c.repo_id, [repo_id])
    if not rows:
        return State()
    _, sequence, issues, next_term, lengths, model, vectors, total, centre, reading = rows[0]
    by_position = {int(position): length for position, length in json.loads(lengths).items()}
    sums = _matrix(total), _matrix(centre)
    return State(sequence, issues, next_term, by_position, model, vectors, *sums, reading)


def lock(connection: sa.Connection, repo_id: int) -> State:
    """Read the state and keep others from changing it until the transaction ends. Its sequence is the next one."""
    lock_index(connection, repo_id)
    state = load(connection, repo_id)
    state.before = state.version
    state.sequence = (state.sequence or _beginning(connection)) + 1
    return state


def save(connection: sa.Connection, repo_id: int, state: State) -> None:
    """Write the state back."""
    sums = (sums.astype("<f8").tobytes() for sums in (state.vector_sum, state.centre))
    upsert(connection, table, [(repo_id, *state.version, *sums, state.reading)])


def _beginning(connection: sa.Connection) -> int:
    """The sequence that a new index starts from: milliseconds of the database's clock.

    It is higher than whatever other processes may remember of an index that was erased.
    """
    now: float = connection.execute(sa.select(database_time(connection.engine))).scalar_one()
    return int(now * 1_000)


def _matrix(blob: bytes) -> NDArray[np.float64]:
    return np.frombuffer(blob, dtype="<f8").reshape(2, -1) if blob else NO_VECTORS
