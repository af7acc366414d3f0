"""Whether a job that runs here is still this worker's: DBOS gives each claim of a job a token of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from dbos._context import current_owner_xid

from bot.jobs.queue.database import named_failures, workflow_table
from bot.jobs.queue.steadily import steadily


class Lost(BaseException):
    """Ends a run whose job is not ours any more.

    Whatever else it returned or raised, DBOS would have it wait in its thread for what becomes of the job elsewhere. A
    worker that stood still takes up again what it has lost, which then waits for a thread: none would be left. DBOS
    lets pass what is no Exception.
    """


class Claims:
    """The claims under which this process works, as the queue's database has them. Thread safe."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        table = workflow_table(engine)
        # Built once, since every job asks and building it takes longer than the database does.
        self._mine = sa.select(table.c.recovery_attempts).where(
            table.c.workflow_uuid == sa.bindparam("run"),
            table.c.owner_xid == sa.bindparam("claim"),
            table.c.status == "PENDING",
        )

    def times(self, workflow_id: str) -> int | None:
        """How often the job that this thread runs was claimed, by us the last time; None where that holds no longer,
        because another has taken it over, or it was given up. Waits for a database that is away.
        """
        mine = {"run": workflow_id, "claim": current_owner_xid(workflow_id)}
        return steadily(lambda: self._times(mine))

    def asked(self, workflow_id: str) -> Callable[[], bool]:
        """Tells in any thread whether the claim of this one still holds. Raises QueueUnavailable."""
        mine = {"run": workflow_id, "claim": current_owner_xid(workflow_id)}

        def holds() -> bool:
            with named_failures():
                return self._times(mine) is not None

        return holds

    @contextmanager
    def kept(self, workflow_id: str) -> Iterator[None]:
        """The whole of a run in this thread. Raises Lost at its end if its claim holds no longer."""
        try:
            yield
        finally:
            if self.times(workflow_id) is None:
                raise Lost from None

    def _times(self, mine: dict[str, str | None]) -> int | None:
        with self._engine.connect() as connection:
            return connection.execute(self._mine, mine).scalar_one_or_none()
