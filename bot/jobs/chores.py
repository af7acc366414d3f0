"""Work that nobody delivers: something that one of all the workers does every so often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowSerializationFormat
from dbos import error as dbos_error

from bot.jobs.database import QUEUE, VERSION, workflow_table
from bot.store.engine import write

CHORE = "chore"


@dataclass(frozen=True, slots=True)
class Chore:
    """`do` is called every `every` seconds in one worker; what it raises is logged, and the next turn comes in time.

    The turns are counted from 1970, so that all workers agree on them. A worker that starts takes the present turn up
    if nobody has. `at_start`: it also gives the chore a turn of its own, because of what was before the start. `late`:
    seconds after which its turn begins, so that it finds done what other chores do at the same time.
    """

    name: str
    every: float
    do: Callable[[], None]
    at_start: bool = False
    late: float = 0.0

    def turn(self, now: float) -> int:
        """The number of the turn at a time in seconds since 1970."""
        return int((now - self.late) // self.every)


def call_for(client: DBOSClient, engine: sa.Engine, chore: Chore, turn: int | str) -> None:
    """Put one turn of a chore into the queue; nothing happens where it is there already."""
    options: EnqueueOptions = {
        "workflow_name": CHORE,
        "queue_name": QUEUE,
        "workflow_id": _name(chore, turn),
        "workflow_id_reuse_policy": "reject",
        "app_version": VERSION,
        "queue_partition_key": f"{CHORE}:{chore.name}",
        "serialization_type": WorkflowSerializationFormat.PORTABLE,
    }
    try:
        with write(engine) as connection:
            client.enqueue_in_transaction(connection, options, chore.name)
    except dbos_error.DBOSWorkflowIDInUseError:
        return


def latest_done(engine: sa.Engine, chore: Chore, turns: range) -> int:
    """The latest of these turns that is done; the first where none is."""
    return max(_done(engine, chore, turns).values(), default=turns.start)


def take_back(client: DBOSClient, engine: sa.Engine, chore: Chore, turns: range) -> None:
    """Let turns be called for once more that were done by a clock which has been set back since: they come again."""
    if known := list(_done(engine, chore, turns)):
        client.delete_workflows(known)


def _done(engine: sa.Engine, chore: Chore, turns: range) -> dict[str, int]:
    """Those of the turns that are done, by their workflows."""
    table, names = workflow_table(engine), {_name(chore, turn): turn for turn in turns}
    done = table.c.status.in_(["SUCCESS", "ERROR", "CANCELLED"])
    with engine.connect() as connection:
        ids = connection.execute(sa.select(table.c.workflow_uuid).where(table.c.workflow_uuid.in_(names), done))
        return {one: names[one] for one in ids.scalars()}


def _name(chore: Chore, turn: int | str) -> str:
    return f"{CHORE}:{chore.name}:{turn}"
