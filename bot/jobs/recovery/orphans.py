"""Work that this process holds in the queue and does not do.

DBOS notes that a job is taken before it is begun, and that it is done after it has ended. Where the first note cannot
be read back or the second not be written (the disk is full, a server takes no writes after a failover, a table is
locked for long), DBOS gives the job up in this process and not in the database. There it is under way for as long as
its worker lives, and everything behind it in its lane waits. Such a job goes back into the queue, as after a kill.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

import sqlalchemy as sa

from bot.jobs.queue.database import give_back, has_status, workflow_table

log = logging.getLogger(__name__)


class Orphans:
    """What the database calls taken by one executor, compared with what that runs."""

    def __init__(self, engine: sa.Engine, executor_id: str) -> None:
        self._engine = engine
        self._executor_id = executor_id
        self._before: set[tuple[str, str]] = set()
        table = workflow_table(engine)
        # Each claim has another owner.
        taken = (has_status("PENDING"), table.c.executor_id == executor_id)
        self._taken = sa.select(table.c.workflow_uuid, table.c.owner_xid).where(*taken)

    def give_back(self, running: Callable[[], Collection[str]], unbegun: Callable[[], int]) -> int:
        """Give back what was not `running` at this look and at the last; how many jobs that were.

        Once is not enough: what was taken a moment ago has not begun, and what has just ended was read before. While
        anything is `unbegun` (taken, and waiting for a thread) nobody is given back, because none can be told from
        those; what waited would be done twice, and take a thread from others each time.
        """
        with self._engine.connect() as connection:
            taken = {(row.workflow_uuid, row.owner_xid) for row in connection.execute(self._taken)}
        # Asked afterwards, so that a job that begins in between is seen; and in the order in which a job goes.
        waiting = unbegun()
        here = set(running())
        idle = set() if waiting or unbegun() else {claim for claim in taken if claim[0] not in here}
        again, self._before = sorted(idle & self._before), idle
        given = 0
        for workflow_id, owner in again:
            if give_back(self._engine, workflow_id, self._executor_id, owner):
                log.warning("job %s is taken and nobody works on it: it is done again", workflow_id)
                given += 1
        return given
