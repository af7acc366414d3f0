"""Work that nobody delivers: something that one of all the workers does every so often."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowSerializationFormat
from dbos import error as dbos_error

from bot.jobs.queue.database import QUEUE, VERSION, workflow_table
from bot.store.database.engine import write

CHORE = "chore"
# Turns of a chore that come again where a clock was set back by more than a day.
_MOST_TURNS = 300


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


class Timetable:
    """The turns of some chores, as one worker calls for them. All workers do, and each turn is done once."""

    def __init__(self, client: DBOSClient, engine: sa.Engine, chores: Iterable[Chore]) -> None:
        self._client = client
        self._engine = engine
        self._chores = tuple(chores)
        # The last turn of each that this worker has called for.
        self._called: dict[str, int] = {}

    def begin(self, start: str) -> None:
        """Call for the present turns, and for those that the `start` of this worker gives, which has a name of its own.

        Clocks are set right where a machine starts, too, and what was called for before only the queue knows.
        """
        for chore in self._chores:
            if chore.at_start:
                call_for(self._client, self._engine, chore, f"start:{start}")
            turn = chore.turn(time.time())
            self._called[chore.name] = max(_done(self._engine, chore, turn).values(), default=turn - 1)
        self.call()

    def call(self) -> None:
        """Call for the present turns. Those that a clock which has been set back since had done come again."""
        for chore in self._chores:
            turn = chore.turn(time.time())
            # One turn is the unsteadiness of a clock at the end of it.
            if self._called[chore.name] > turn + 1 and (known := list(_done(self._engine, chore, turn))):
                self._client.delete_workflows(known)
            if self._called[chore.name] != turn:
                call_for(self._client, self._engine, chore, turn)
                self._called[chore.name] = turn


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


def _done(engine: sa.Engine, chore: Chore, present: int) -> dict[str, int]:
    """The turns from the present one on that are done, by their workflows."""
    table, turns = workflow_table(engine), range(present, present + _MOST_TURNS + 1)
    names = {_name(chore, turn): turn for turn in turns}
    done = table.c.status.in_(["SUCCESS", "ERROR", "CANCELLED"])
    with engine.connect() as connection:
        ids = connection.execute(sa.select(table.c.workflow_uuid).where(table.c.workflow_uuid.in_(names), done))
        return {one: names[one] for one in ids.scalars()}


def _name(chore: Chore, turn: int | str) -> str:
    return f"{CHORE}:{chore.name}:{turn}"
