"""What each process says of the present, such as how much of GitHub's limits it saw left, with the time of saying it.

Unlike a counter such a value is replaced, and means nothing once its process has been silent for a while.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from bot.store.base import Part
from bot.store.engine import write
from bot.store.schema import metadata

#: Seconds for which what a process said counts.
FRESH = 60.0

gauges = sa.Table(
    "gauges",
    metadata,
    sa.Column("name", sa.Text(), primary_key=True, nullable=False),
    sa.Column("process", sa.Text(), primary_key=True, nullable=False),
    sa.Column("value", sa.Float(53), nullable=False),
    sa.Column("at", sa.Float(53), nullable=False),
)


class Gauges(Part):
    """The `gauges` table. Times are seconds since 1970."""

    def say(self, process: str, values: Mapping[str, float], now: float) -> None:
        """Replace everything that a process said before; what is no longer fresh goes, whoever said it."""
        rows = [{"name": name, "process": process, "value": values[name], "at": now} for name in sorted(values)]
        with write(self._engine) as connection:
            old = sa.or_(gauges.c.process == process, gauges.c.at < now - FRESH)
            connection.execute(sa.delete(gauges).where(old))
            if rows:
                connection.execute(sa.insert(gauges), rows)

    def lowest(self, now: float) -> dict[str, float]:
        """The lowest fresh value of each name, of all processes."""
        query = sa.select(gauges.c.name, sa.func.min(gauges.c.value).label("value")).group_by(gauges.c.name)
        with self._engine.connect() as connection:
            rows = connection.execute(query.where(gauges.c.at >= now - FRESH))
            return {row.name: row.value for row in rows}
