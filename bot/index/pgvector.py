"""A repository's vectors in PostgreSQL, compared there by its extension pgvector.

Every vector of the repository is compared, exactly, which takes a millisecond for a thousand. To compare signs in
memory is faster (`neighbours.py`), but all of them must be read first. So a worker has the database compare until a
repository has been asked about so often that reading pays (`memory.FEW_FINDS`): of many workers and many repositories
each sees most repositories seldom, and answers then at once and without memory for their vectors.

What is kept here follows from `indexed_vectors`: the same vectors around the repository's centre. It is written with
them, and says up to which change of the repository it is complete. A process of an earlier release, which knows nothing
of it, therefore makes it incomplete, not wrong.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import sqlalchemy as sa

from bot.index import vectors
from bot.index.database import fetch_all, stream
from bot.index.scoring import Scores
from bot.index.state import State
from bot.index.vectors import Kind, Vectors
from bot.store import pgvector as tables

#: Of a repository with more vectors each worker reads the signs at once. When the centre moves, all of these are
#: written anew in one transaction, and the repository's other writers wait.
MOST = 50_000

# So many decimals of a unit vector's numbers are more than its bytes tell.
_DECIMALS = 5
_ROWS = 2_000

_STATE = "SELECT sequence, centre FROM pgvector_states WHERE repo_id = %s"
_PUT_STATE = (
    "INSERT INTO pgvector_states VALUES (%s, %s, %s)"
    " ON CONFLICT (repo_id) DO UPDATE SET sequence = excluded.sequence, centre = excluded.centre"
)
_PUT = (
    "INSERT INTO pgvector_halves SELECT %s, number, title::halfvec, body::halfvec, length"
    " FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::real[]) AS new (number, title, body, length)"
    " ON CONFLICT (repo_id, number) DO UPDATE SET title = excluded.title, body = excluded.body,"
    " length = excluded.length"
)
_ALL = "SELECT number, vectors FROM indexed_vectors WHERE repo_id = %s"
# `<#>` is the negative inner product, so that the nearest come first. One pass serves all kinds.
_COMPARED = (
    "WITH compared AS MATERIALIZED (SELECT number, title <#> %s::halfvec AS kind_0, body <#> %s::halfvec AS kind_1,"
    " ((title <#> %s::halfvec) + (body <#> %s::halfvec)) / length AS kind_2"
    " FROM pgvector_halves WHERE repo_id = %s AND number < %s)"
)
_NEAREST = "(SELECT {0}, number, -kind_{0} FROM compared ORDER BY kind_{0}, number LIMIT %s)"
_HIGHEST = np.iinfo(np.int64).max


class Pgvector:
    """One for all repositories of a database, which may lack the extension."""

    def __init__(self) -> None:
        self._prepared: bool | None = None

    def serves(self, connection: sa.Connection, repo_id: int, state: State) -> bool:
        """Whether all vectors of a repository are here, as they are in this state or a later one."""
        if not 0 < state.vectors <= MOST or not self._is_prepared(connection):
            return False
        known = fetch_all(connection, _STATE, (repo_id,))
        return bool(known) and known[0][0] >= state.sequence

    def nearest(
        self, connection: sa.Connection, repo_id: int, around: Vectors, wanted: Mapping[Kind, int], below: int | None
    ) -> dict[Kind, Scores]:
        """For each kind the issues with the highest cosines, best first, as many as `wanted`.

        `around` are a text's vectors around the repository's centre, (3, dimensions), by `Kind`.
        """
        title, body, both = (_written(one) for one in around)
        parts = " UNION ALL ".join(_NEAREST.format(int(kind)) for kind in wanted)
        values = (title, body, both, both, repo_id, _HIGHEST if below is None else below, *wanted.values())
        rows = fetch_all(connection, f"{_COMPARED} {parts}", values)
        found = {Kind(kind): list(part) for kind, part in groupby(rows, lambda row: int(row[0]))}
        return {kind: _scores(found.get(kind, ())) for kind in wanted}

    def follow(self, connection: sa.Connection, repo_id: int, state: State, numbers: Collection[int]) -> None:
        """Take over the vectors that have been written of these issues, in the transaction that wrote them, and its
        state too. What was deleted has gone by itself.
        """
        if not self._is_prepared(connection):
            return
        known = fetch_all(connection, _STATE, (repo_id,))
        if not 0 < state.vectors <= MOST:
            if known:
                for table in ("pgvector_halves", "pgvector_states"):
                    connection.exec_driver_sql(f"DELETE FROM {table} WHERE repo_id = %s", (repo_id,))  # noqa: S608
            return
        assert state.before is not None
        centre = zlib.crc32(state.centre.tobytes())
        if known == [(state.before.sequence, centre)]:
            self._put(connection, repo_id, state, list(vectors.read(connection, repo_id, numbers).items()))
        else:
            for rows in stream(connection, _ALL, (repo_id,), _ROWS):
                self._put(connection, repo_id, state, rows)
        connection.exec_driver_sql(_PUT_STATE, (repo_id, state.sequence, centre))

    def _put(self, connection: sa.Connection, repo_id: int, state: State, rows: Sequence[tuple[int, bytes]]) -> None:
        if not rows:
            return
        pairs = vectors.around(vectors.unpack([blob for _, blob in rows]), state.centre)
        titles, bodies = ([_written(one) for one in pairs[:, kind]] for kind in (Kind.TITLE, Kind.TEXT))
        lengths = vectors.lengths_of_both(pairs).tolist()
        connection.exec_driver_sql(_PUT, (repo_id, [number for number, _ in rows], titles, bodies, lengths))

    def _is_prepared(self, connection: sa.Connection) -> bool:
        """Asked once: a process that is started later finds what has been added."""
        if self._prepared is None:
            self._prepared = tables.is_prepared(connection)
        return self._prepared


def _written(vector: Vectors) -> str:
    """As pgvector reads it."""
    return json.dumps(np.round(vector.astype(np.float64), _DECIMALS).tolist())


def _scores(rows: Iterable[Sequence[Any]]) -> Scores:
    pairs = [(number, cosine) for _, number, cosine in rows]
    numbers, cosines = zip(*pairs, strict=True) if pairs else ((), ())
    return Scores(np.array(numbers, dtype=np.int64), np.array(cosines, dtype=np.float64))
