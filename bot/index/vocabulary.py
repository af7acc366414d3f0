"""The numbers of terms: small integers, given out in order, so that statistics can be arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from bot.index.database import delete, fetch, upsert
from bot.store.index_tables import index_vocabulary as table


def look_up(connection: sa.Connection, repo_id: int, hashes: Collection[int]) -> dict[int, int]:
    """The numbers of those terms that the repository has, by their hashes."""
    return dict(fetch(connection, repo_id, (table.c.hash, table.c.term), table.c.hash, hashes))


def assign(connection: sa.Connection, repo_id: int, hashes: Iterable[int], next_term: int) -> dict[int, int]:
    """The numbers of all these terms; new ones are numbered from `next_term` on. Only under the repository's lock."""
    wanted = list(dict.fromkeys(hashes))
    known = look_up(connection, repo_id, wanted)
    fresh = {value: next_term + i for i, value in enumerate(value for value in wanted if value not in known)}
    # In the order of the key, so that neighbours are written together.
    upsert(connection, table, [(repo_id, value, term) for value, term in sorted(fresh.items())])
    return known | fresh


def forget(connection: sa.Connection, repo_id: int, terms: Collection[int]) -> None:
    """Give up terms that no issue has any more. Their numbers are not given out again."""
    delete(connection, table, repo_id, "term", list(terms))
