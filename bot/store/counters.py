"""Plain counters by name, such as `events.unknown`, shared by all processes."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.base import Part
from bot.store.schema import counters


class Counters(Part):
    """The `counters` table."""

    def increment(self, name: str, by: int = 1) -> None:
        """Add to a counter, which begins at 0."""
        insert = self._insert(counters).values(name=name, value=by)
        with self._engine.begin() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["name"], set_={"value": counters.c.value + by})
            )

    def all(self) -> dict[str, int]:
        """Every counter by its name."""
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(counters.c.name, counters.c.value).order_by(counters.c.name))
            return {row.name: row.value for row in rows}
