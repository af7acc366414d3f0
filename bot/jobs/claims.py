"""Whether a job that runs here is still this worker's: DBOS gives each claim of a job a token of its own."""

from __future__ import annotations

import sqlalchemy as sa
from dbos._context import current_owner_xid

from bot.jobs.database import named_failures, workflow_table


class Claim:
    """The claim under which this thread runs a job; may be asked about in any thread."""

    def __init__(self, engine: sa.Engine, workflow_id: str) -> None:
        self._engine = engine
        table = workflow_table(engine)
        self._mine = sa.select(table.c.owner_xid).where(
            table.c.workflow_uuid == workflow_id,
            table.c.owner_xid == current_owner_xid(workflow_id),
            table.c.status == "PENDING",
        )

    def holds(self) -> bool:
        """Whether nobody has taken the job over, and it has not been given up. Raises SQLAlchemyError."""
        with self._engine.connect() as connection:
            return connection.execute(self._mine).first() is not None

    def still_holds(self) -> bool:
        """The same for who is in the middle of the job. Raises QueueUnavailable."""
        with named_failures():
            return self.holds()
