"""Plain counters by name, shared by all processes."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from bot.store.database.engine import write
from bot.store.parts.base import Part
from bot.store.tables.schema import counters


class Counters(Part):
    """The `counters` table."""

    def add(self, amounts: Mapping[str, int]) -> None:
        """Add to counters, which begin at 0, in one transaction: all of them or none."""
        # In one order for everybody, so that two processes never wait for each other's rows.
        rows = [{"name": name, "value": amounts[name]} for name in sorted(amounts)]
        if not rows:
            return
        insert = self._insert(counters)
        with write(self._engine) as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["name"], set_={"value": counters.c.value + insert.excluded.value}
                ),
                rows,
            )

    def all(self) -> dict[str, int]:
        """Every counter by its name."""
        rows = self._all(sa.select(counters.c.name, counters.c.value).order_by(counters.c.name))
        return {row.name: row.value for row in rows}
