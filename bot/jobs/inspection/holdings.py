"""What the queue holds of one repository, for whoever it belongs to (C6a)."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from bot.jobs.queue.database import belongs_to, input_table, named_failures, prepare, queue_engine, workflow_table
from bot.settings import Settings


def holdings(settings: Settings, repository_id: int) -> list[dict[str, Any]]:
    """The jobs of a repository that have content, in order of arrival, ready for JSON. Raises QueueUnavailable.

    `arrived` is in seconds since 1970; `content` is what the job was given, with the event as text.
    """
    engine = queue_engine(settings, pool_size=3)
    workflows, inputs = workflow_table(engine), input_table(engine)
    query = (
        sa.select(workflows.c.workflow_uuid, workflows.c.status, workflows.c.created_at, inputs.c.inputs)
        .join(inputs, workflows.c.workflow_uuid == inputs.c.workflow_uuid)
        .where(belongs_to(workflows, repository_id))
        .order_by(workflows.c.created_at, workflows.c.workflow_uuid)
    )
    try:
        with named_failures():
            prepare(engine)
            with engine.connect() as connection:
                rows = connection.execute(query).all()
    finally:
        engine.dispose()
    return [
        {
            "id": row.workflow_uuid,
            "status": row.status,
            "arrived": row.created_at / 1000,
            "content": json.loads(row.inputs),
        }
        for row in rows
    ]
