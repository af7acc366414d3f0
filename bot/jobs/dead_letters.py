"""The jobs that have been given up: what raised too often, and what took its worker down with it too often."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from dbos import DBOSClient, WorkflowStatus

from bot.jobs.enqueue import WORKFLOW, enqueue
from bot.jobs.job import Message

# DBOS's words for a workflow that raised, and for one that was started again too often without an end.
GIVEN_UP = ["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that nobody will try again by itself. `failed_at` is in seconds since 1970, `tries` 0 if it never ended."""

    id: str
    delivery_id: str
    event: str
    partition: str
    tries: int
    failed_at: float
    reason: str


def find(client: DBOSClient, limit: int) -> list[DeadLetter]:
    """The dead letters, those of the latest deliveries first."""
    rows = client.list_workflows(name=WORKFLOW, status=GIVEN_UP, sort_desc=True, limit=limit)
    return [_letter(row, message) for row in rows if (message := _message(row)) is not None]


def retry(client: DBOSClient, engine: sa.Engine, dead_letter_id: str, now: int) -> bool:
    """Put a dead letter back into the queue as if it had just arrived; `now` in milliseconds."""
    rows = client.list_workflows(workflow_ids=[dead_letter_id], name=WORKFLOW, status=GIVEN_UP)
    message = _message(rows[0]) if rows else None
    if message is None:
        return False
    fresh = replace(message.again(0), arrived=now)
    return enqueue(client, engine, fresh, 0.0, instead_of=dead_letter_id)


def _message(row: WorkflowStatus) -> Message | None:
    """What the workflow was given; None where that has been erased."""
    arguments: Any = row.input
    return Message(*arguments["args"]) if arguments else None


def _letter(row: WorkflowStatus, message: Message) -> DeadLetter:
    event = json.loads(message.text)
    ended = row.status == GIVEN_UP[0]
    return DeadLetter(
        id=row.workflow_id,
        delivery_id=message.delivery_id,
        event=f"{event['kind']}.{event.get('action', '')}".rstrip("."),
        partition=message.partition,
        tries=message.failures + 1 if ended else 0,
        failed_at=(row.completed_at or 0) / 1000,
        reason=str(row.error) if ended else "its worker died each time it was tried",
    )
