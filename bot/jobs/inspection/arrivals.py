"""Whether deliveries have come since a moment: what tells a person who sets the App up that it works."""

from __future__ import annotations

import sqlalchemy as sa

from bot.jobs.queue.database import named_failures, queue_engine, workflow_table
from bot.jobs.queue.enqueue import WORKFLOW
from bot.settings import Settings


def has_arrived(settings: Settings, since: float) -> bool:
    """Whether any delivery was committed to the queue after `since`, in seconds since 1970. Raises QueueUnavailable."""
    engine = queue_engine(settings, pool_size=1)
    try:
        workflows = workflow_table(engine)
        # What the workers do by themselves has workflows too, of other names.
        ours = (sa.column("name") == WORKFLOW, workflows.c.created_at > since * 1000)
        query = sa.select(sa.literal(1)).select_from(workflows).where(*ours).limit(1)
        with named_failures(), engine.connect() as connection:
            return connection.execute(query).first() is not None
    finally:
        engine.dispose()
