"""Putting a message into the queue, durably, once.

The insert goes through `enqueue_in_transaction`: DBOS's plain `enqueue` waits without limit for a locked SQLite file,
and a webhook must be answered within ten seconds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions, WorkflowSerializationFormat
from dbos import error as dbos_error

from bot.jobs.queue.database import PARTITION, VERSION, has_status, queue_for, workflow_table
from bot.jobs.queue.job import Message
from bot.store.database.engine import write

WORKFLOW = "job"

LATER = 1_000
"""The priority with which a delivery begins, until it is moved up (`fairness.turns`)."""

# Seconds by which the clocks of two machines may differ.
AHEAD = 60.0

#: A message, and the seconds that it waits.
Entry = tuple[Message, float]


def enqueue(
    client: DBOSClient, engine: sa.Engine, message: Message, delay: float, *, instead_of: str | None = None
) -> bool:
    """Commit the message to the queue, to be worked on in `delay` seconds; False if this run is already there.

    `instead_of` names a workflow that has ended, or never will, and is settled by this one in the same transaction.
    """
    with write(engine) as connection:
        (new,) = insert(client, connection, [(message, delay)])
        if new and instead_of is not None:
            table = workflow_table(engine)
            settled = sa.update(table).where(table.c.workflow_uuid == instead_of)
            ended = sa.func.coalesce(table.c.completed_at, time.time_ns() // 1_000_000)
            connection.execute(settled.values(status="CANCELLED", completed_at=ended))
    return new


def insert(client: DBOSClient, connection: sa.Connection, entries: Sequence[Entry]) -> list[bool]:
    """The same for several, within a transaction of the caller's: which of them were new."""
    new = [_insert(client, connection, message, delay) for message, delay in entries]
    # DBOS orders a partition by `created_at`, which on SQLite it fills with whole seconds. The time of arrival is
    # finer, and lets a job that comes back after a failure go before those that arrived later. When it is due goes by
    # the same look at the clock as when it was written, or `bring_forward` could not tell that the clock was set back.
    now = time.time_ns() // 1_000_000
    arrivals = [
        {
            "run": message.workflow_id,
            "arrived": message.arrived,
            "now": now,
            "due": now + int(delay * 1000) if delay > 0 else None,
        }
        for (message, delay), is_new in zip(entries, new, strict=True)
        if is_new
    ]
    if arrivals:
        table = workflow_table(connection.engine)
        arrived = sa.update(table).where(table.c.workflow_uuid == sa.bindparam("run"))
        stamped = arrived.values(
            created_at=sa.bindparam("arrived"),
            updated_at=sa.bindparam("now"),
            delay_until_epoch_ms=sa.bindparam("due"),
        )
        connection.execute(stamped, arrivals)
    return new


def bring_forward(engine: sa.Engine, now: float) -> int:
    """Let what was put into the queue "in the future" wait from now on; returns how many that were.

    A clock that ran ahead has been set back since, and what waits for a time by the old one would wait by so much
    longer. `now` is in seconds since 1970.
    """
    table, present = workflow_table(engine), int(now * 1000)
    ahead = sa.and_(has_status("DELAYED"), table.c.updated_at > present + AHEAD * 1000)
    with engine.connect() as connection:
        if connection.execute(sa.select(table.c.workflow_uuid).where(ahead).limit(1)).first() is None:
            return 0
    sooner = table.c.delay_until_epoch_ms - table.c.updated_at + present
    with write(engine) as connection:
        moved = sa.update(table).where(ahead).values(delay_until_epoch_ms=sooner, updated_at=present)
        return connection.execute(moved).rowcount


def _insert(client: DBOSClient, connection: sa.Connection, message: Message, delay: float) -> bool:
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": queue_for(message.partition),
        "workflow_id": message.workflow_id,
        "workflow_id_reuse_policy": "reject",
        "app_version": VERSION,
        # DBOS's partition is our lane; ours is what the work of one issue has in common.
        "queue_partition_key": message.lane,
        "attributes": {PARTITION: message.partition},
        "serialization_type": WorkflowSerializationFormat.PORTABLE,
    }
    if message.run == 1:
        options["priority"] = LATER
    if delay > 0:
        options["delay_seconds"] = delay
    try:
        client.enqueue_in_transaction(
            connection,
            options,
            message.delivery_id,
            message.run,
            message.failures,
            message.arrived,
            message.partition,
            message.text,
        )
    except dbos_error.DBOSWorkflowIDInUseError:
        return False
    return True
