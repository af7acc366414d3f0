"""What a store has about a repository, for tests that nothing of it is left."""

from __future__ import annotations

import sqlalchemy as sa

from bot.storage import Store
from bot.storage.schema import metadata


def stored(store: Store, repo_id: int) -> int:
    """How many rows there are about a repository, in all tables."""
    with store.engine.connect() as connection:
        return sum(
            connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id)
            ).scalar_one()
            for table in metadata.sorted_tables
            if "repo_id" in table.c
        )
