"""A repository's vectors in PostgreSQL, compared there by its extension pgvector.

Every vector of the repository is compared, exactly, which takes a millisecond for a thousand. To compare signs in
memory is faster (`neighbours.py`), but all of them must be read first. So a worker has the database compare until a
repository has been asked about so often that reading pays (`FEW_FINDS` in `bot/index/memory.py`): of many workers and
many repositories each sees most repositories seldom, and answers then at once and without memory for their vectors.

What is kept here follows from `indexed_vectors`: the same vectors around the repository's centre. It is written with
them, and says up to which change of the repository it is complete. A process of an earlier release, which knows nothing
of it, therefore makes it incomplete, not wrong. It only saves time, so whatever fails here costs no more than its use.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa

from bot.index.database import copy_in, fetch_all, stream
from bot.index.postings.scoring import Scores
from bot.index.state import State
from bot.index.vectors import vectors
from bot.index.vectors.vectors import Kind, Vectors
from bot.store.database import pgvector as tables

_log = logging.getLogger(__name__)

#: Numbers of a repository's vectors, one kind of them: 20,480 of 256 dimensions. When the centre moves all are written
#: anew in one transaction, for which the repository's other writers wait; of more each worker reads the signs at once.
MOST = 5 << 20

# So many decimals of a unit vector's numbers are more than its bytes tell.
_DECIMALS = 5
_ROWS = 2_000
_HIGHEST = np.iinfo(np.int64).max

_STATE = "SELECT sequence, centre FROM pgvector_states WHERE repo_id = %s"
_PUT_STATE = (
    "INSERT INTO pgvector_states VALUES (%s, %s, %s)"
    " ON CONFLICT (repo_id) DO UPDATE SET sequence = excluded.sequence, centre = excluded.centre"
)
_CHANGED = "SELECT number, vectors FROM indexed_vectors WHERE repo_id = %s AND changed > %s"
_DROP_THESE = "DELETE FROM pgvector_halves WHERE repo_id = %s AND number = ANY(%s::bigint[])"
_DROP = "DELETE FROM pgvector_halves WHERE repo_id = %s"
_DROP_STATE = "DELETE FROM pgvector_states WHERE repo_id = %s"
_COPY = "COPY pgvector_halves (repo_id, number, title, body, length) FROM STDIN (FORMAT BINARY)"
# `<#>` is the negative inner product, so that the nearest come first. One pass serves all kinds.
_COMPARED = (
    "WITH compared AS MATERIALIZED (SELECT number, title <#> %s::halfvec AS kind_0, body <#> %s::halfvec AS kind_1,"
    " ((title <#> %s::halfvec) + (body <#> %s::halfvec)) / length AS kind_2"
    " FROM pgvector_halves WHERE repo_id = %s AND number < %s)"
)
_NEAREST = "(SELECT {0}, number, -kind_{0} FROM compared ORDER BY kind_{0}, number LIMIT %s)"

T = TypeVar("T")


class Pgvector:
    """One for all repositories of a database, which may lack the extension. `wanted` says whether to use it at all."""

    def __init__(self, wanted: bool) -> None:
        self._usable: bool | None = None if wanted else False

    def serves(self, connection: sa.Connection, repo_id: int, state: State) -> bool:
        """Whether all vectors of a repository are here, as they are in this state."""
        if not _fits(state) or not self._is_usable(connection):
            return False
        known = self._try(connection, lambda: fetch_all(connection, _STATE, (repo_id,)))
        return known == [(state.sequence, _centre(state))]

    def nearest(
        self, connection: sa.Connection, repo_id: int, around: Vectors, wanted: Mapping[Kind, int], below: int | None
    ) -> dict[Kind, Scores] | None:
        """For each kind the issues with the highest cosines, best first, as many as `wanted`; None where that fails.

        `around` are a text's vectors around the repository's centre, (3, dimensions), by `Kind`.
        """
        title, body, both = (json.dumps(np.round(one.astype(np.float64), _DECIMALS).tolist()) for one in around)
        parts = " UNION ALL ".join(_NEAREST.format(int(kind)) for kind in wanted)
        values = (title, body, both, both, repo_id, _HIGHEST if below is None else below, *wanted.values())
        rows = self._try(connection, lambda: fetch_all(connection, f"{_COMPARED} {parts}", values))
        if rows is None:
            return None
        found = {Kind(kind): list(part) for kind, part in groupby(rows, lambda row: int(row[0]))}
        return {kind: _scores(found.get(kind, ())) for kind in wanted}

    def follow(self, connection: sa.Connection, repo_id: int, state: State) -> None:
        """Take over the vectors that have been written, in the transaction that wrote them, and its state too.

        What was deleted has gone by itself.
        """
        if self._is_usable(connection):
            self._try(connection, lambda: _follow(connection, repo_id, state))

    def _is_usable(self, connection: sa.Connection) -> bool:
        """Asked once: a process that is started later finds what has been added."""
        if self._usable is None:
            self._usable = tables.is_prepared(connection)
        return self._usable

    def _try(self, connection: sa.Connection, action: Callable[[], T]) -> T | None:
        """What it returns. Where the database refuses it, this process leaves the extension alone from then on."""
        try:
            with connection.begin_nested():
                return action()
        except sa.exc.DBAPIError as failure:
            if connection.invalidated or getattr(connection.connection.driver_connection, "closed", True):
                # That is no fault of the extension's.
                raise
            self._usable = False
            _log.warning("pgvector is not used any more until the next start: %s", type(failure.orig).__name__)
            return None


def _follow(connection: sa.Connection, repo_id: int, state: State) -> None:
    known = fetch_all(connection, _STATE, (repo_id,))
    if not _fits(state):
        if known:
            connection.exec_driver_sql(_DROP, (repo_id,))
            connection.exec_driver_sql(_DROP_STATE, (repo_id,))
        return
    centre = _centre(state)
    since = known[0][0] if known and known[0][1] == centre else -1
    if since < 0:
        connection.exec_driver_sql(_DROP, (repo_id,))
    for rows in stream(connection, _CHANGED, (repo_id, since), _ROWS):
        numbers = [number for number, _ in rows]
        connection.exec_driver_sql(_DROP_THESE, (repo_id, numbers))
        pairs = vectors.around(vectors.unpack([blob for _, blob in rows]), state.centre)
        copy_in(connection, _COPY, _rows(repo_id, numbers, pairs))
    connection.exec_driver_sql(_PUT_STATE, (repo_id, state.sequence, centre))


def _fits(state: State) -> bool:
    return 0 < state.vectors * len(state.vector_sum.T) <= MOST


def _centre(state: State) -> int:
    """What tells a centre from another."""
    return zlib.crc32(state.centre.tobytes())


def _rows(repo_id: int, numbers: Sequence[int], pairs: Vectors) -> bytes:
    """Rows of `pgvector_halves` as PostgreSQL copies them in: each value behind its length in bytes, all big-endian.

    Of a half vector that is its dimensions, two bytes that are not used, and its numbers ("halfvec_recv").
    """
    count, _, dimensions = pairs.shape
    half = [("bytes", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("numbers", ">f2", (dimensions,))]
    number = [("bytes", ">i4"), ("value", ">i8")]
    fields = [("repo", number), ("number", number), ("title", half), ("body", half)]
    rows = np.zeros(count, dtype=[("fields", ">i2"), *fields, ("length", [("bytes", ">i4"), ("value", ">f4")])])
    rows["fields"] = len(fields) + 1
    for name in ("repo", "number"):
        rows[name]["bytes"] = 8
    rows["repo"]["value"], rows["number"]["value"] = repo_id, numbers
    for name, kind in (("title", Kind.TITLE), ("body", Kind.TEXT)):
        rows[name]["bytes"], rows[name]["dimensions"] = 4 + 2 * dimensions, dimensions
        rows[name]["numbers"] = pairs[:, kind]
    rows["length"]["bytes"], rows["length"]["value"] = 4, vectors.lengths_of_both(pairs)
    return rows.tobytes()


def _scores(rows: Iterable[Sequence[Any]]) -> Scores:
    pairs = [(number, cosine) for _, number, cosine in rows]
    numbers, cosines = zip(*pairs, strict=True) if pairs else ((), ())
    return Scores(np.array(numbers, dtype=np.int64), np.array(cosines, dtype=np.float64))
