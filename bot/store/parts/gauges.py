"""What each process says of the present, such as how much of GitHub's limits it saw left, with the time of saying it.

Unlike a counter such a value is replaced, and means nothing once its process has been silent for a while.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from bot.store.database.engine import database_time, write
from bot.store.parts.base import Part
from bot.store.tables.schema import gauges

#: Seconds for which what a process said counts.
FRESH = 60.0


def fresh(connection: sa.Connection, now: float | None = None) -> sa.ColumnElement[bool]:
    """Whether a row of `gauges` counts: said within the last minute, by the database's clock unless `now` is given.

    What is dated further ahead was said before a clock was set back, by who may have ended since.
    """
    present = connection.execute(sa.select(database_time(connection.engine))).scalar_one() if now is None else now
    return gauges.c.at.between(present - FRESH, present + FRESH)


class Gauges(Part):
    """The `gauges` table. Times are seconds since 1970, and the database's: one machine whose clock is ahead would
    otherwise take what all others say for old.
    """

    def say(self, process: str, values: Mapping[str, float], now: float | None = None) -> None:
        """Replace everything that a process said before; what is no longer fresh goes, whoever said it."""
        at = database_time(self._engine) if now is None else sa.literal(now)
        rows = [{"name": name, "process": process, "value": values[name]} for name in sorted(values)]
        with write(self._engine) as connection:
            old = sa.or_(gauges.c.process == process, sa.not_(fresh(connection, now)))
            connection.execute(sa.delete(gauges).where(old))
            if rows:
                connection.execute(sa.insert(gauges).values(at=at), rows)

    def lowest(self, now: float | None = None) -> dict[str, float]:
        """The lowest fresh value of each name, of all processes."""
        query = sa.select(gauges.c.name, sa.func.min(gauges.c.value).label("value")).group_by(gauges.c.name)
        with self._engine.connect() as connection:
            rows = connection.execute(query.where(fresh(connection, now)))
            return {row.name: row.value for row in rows}
