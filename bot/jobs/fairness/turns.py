"""Whose turn it is inside an installation: its repositories' in rotation, however much one of them sends.

A lane is worked off in order of arrival, so that one repository's thousands would come before the one event of another
of the same installation. Where jobs of several repositories wait in a lane, the next of each are moved up, the first of
every repository before the second of any: what Nagle proposed for packets ("On Packet Switches with Infinite Storage",
1985). Inside a repository the order of arrival remains.

DBOS takes the lower priority first, and then what came first. A delivery begins with the highest number, so that it
cannot overtake an earlier one of its repository that was moved up; a later run of one has DBOS's 0 and goes first until
the next deal, for it may be older than all that were.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from bot.batches import batches
from bot.jobs.queue.database import QUEUE, has_status, partition_of, workflow_table
from bot.jobs.queue.enqueue import LATER
from bot.store.database.engine import write

AHEAD = 8
"""How many jobs of a repository are moved up in a lane: more than it does until the next deal."""

# Lanes in one statement.
_AT_ONCE = 500


class Waiting(NamedTuple):
    """A job in a lane."""

    run: str
    repository: str
    priority: int


def deal(waiting: Sequence[Waiting]) -> dict[str, int]:
    """The priorities that have to change among the jobs of one lane, which are given in order of arrival."""
    if len({one.repository for one in waiting}) < 2:
        return {}
    seen: Counter[str] = Counter()
    changed = {}
    for one in waiting:
        seen[one.repository] += 1
        place = seen[one.repository]
        priority = place if place <= AHEAD else LATER
        if priority != one.priority:
            changed[one.run] = priority
    return changed


class Turns:
    """Deals them anew, in any worker and as often as it likes."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        workflows = workflow_table(engine)
        lane, partition = workflows.c.queue_partition_key, partition_of(workflows)
        # Only issues have lanes (`lanes`).
        waits = (has_status("ENQUEUED"), workflows.c.queue_name == QUEUE, lane.like("%/%"))
        # A language's order of letters could put one repository's between two of another.
        by_bytes = partition.collate("C") if engine.dialect.name == "postgresql" else partition
        self._extremes = sa.select(lane, sa.func.min(by_bytes), sa.func.max(by_bytes)).where(*waits).group_by(lane)
        self._waiting = (
            sa.select(lane, workflows.c.workflow_uuid, partition, workflows.c.priority)
            .where(*waits, lane.in_(sa.bindparam("lanes", expanding=True)))
            .order_by(workflows.c.created_at, workflows.c.workflow_uuid)
        )
        self._change = (
            sa.update(workflows)
            .where(workflows.c.workflow_uuid == sa.bindparam("run"), has_status("ENQUEUED"))
            .values(priority=sa.bindparam("place"))
        )

    def deal(self) -> int:
        """Move up what has to be; returns how many jobs that concerned."""
        lanes: defaultdict[str, list[Waiting]] = defaultdict(list)
        with self._engine.connect() as connection:
            extremes = connection.execute(self._extremes).all()
            # Most lanes have the jobs of one repository, and are not read.
            shared = [lane for lane, least, most in extremes if _repository(least) != _repository(most)]
            for part in batches(shared, _AT_ONCE):
                for lane, run, partition, priority in connection.execute(self._waiting, {"lanes": part}):
                    lanes[lane].append(Waiting(run, _repository(partition), priority))
        changed = {run: place for waiting in lanes.values() for run, place in deal(waiting).items()}
        if changed:
            # In one order, so that two workers that deal at once cannot wait for each other.
            places = [{"run": run, "place": place} for run, place in sorted(changed.items())]
            with write(self._engine) as connection:
                connection.execute(self._change, places)
        return len(changed)


def _repository(partition: str) -> str:
    return partition.partition("#")[0]
