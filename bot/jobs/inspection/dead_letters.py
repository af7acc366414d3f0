"""The jobs that have been given up: what raised too often, and what took its worker down with it too often."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from dbos import WorkflowStatus

from bot.events import Event, InstallationEvent, from_json, full_name
from bot.jobs.fairness.lanes import restored
from bot.jobs.queue.database import (
    GIVEN_UP,
    belongs_to,
    input_table,
    named_failures,
    prepare,
    queue_client,
    queue_engine,
    workflow_table,
)
from bot.jobs.queue.enqueue import WORKFLOW, enqueue
from bot.jobs.queue.job import Message
from bot.jobs.recovery.trials import DIED
from bot.model import RepoRef
from bot.settings import Settings

MOST = 10_000
"""So many are looked at where all are meant: more than a month's worth, after which they are deleted."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that nobody will try again by itself.

    `event` is GitHub's name with the action (`issues.opened`), `repository` None where the event is not about one.
    `attempts` is 0 if none of them ever ended. `failed_at` is in seconds since 1970. `reason` is the last error as
    `bot.jobs.running.retry.describe` puts it: without secrets, and without a word of an issue.
    """

    delivery_id: str
    event: str
    repository: RepoRef | None
    attempts: int
    failed_at: float
    reason: str


class DeadLetters:
    """The list of them, for people who host the bot. All methods raise QueueUnavailable where the database is away."""

    def __init__(self, settings: Settings) -> None:
        """Does not connect."""
        self._engine = queue_engine(settings, pool_size=3)
        self._client = queue_client(self._engine)

    def of(self, repo_id: int) -> tuple[DeadLetter, ...]:
        """Those of one repository, the latest first, however many others have and whatever it was called then."""
        return tuple(self._letters(MOST, repo_id))

    def list(self, limit: int = 100) -> list[DeadLetter]:
        """What has been given up and not been retried since, those of the latest deliveries first."""
        return [*self._letters(limit)]

    def _letters(self, limit: int, repo_id: int | None = None) -> Iterator[DeadLetter]:
        """Those whose content is not erased: the others, of which there can be any number, take up no place."""
        workflows, inputs = workflow_table(self._engine), input_table(self._engine)
        query = (
            sa.select(workflows.c.workflow_uuid)
            .join(inputs, workflows.c.workflow_uuid == inputs.c.workflow_uuid)
            .where(workflows.c.name == WORKFLOW, workflows.c.status.in_(GIVEN_UP))
            .order_by(workflows.c.created_at.desc())
            .limit(limit)
        )
        if repo_id is not None:
            query = query.where(belongs_to(workflows, repo_id))
        with named_failures():
            prepare(self._engine)
            with self._engine.connect() as connection:
                ids = connection.execute(query).scalars().all()
            # Without any id DBOS would list those of all.
            rows = self._client.list_workflows(workflow_ids=[*ids], status=GIVEN_UP, sort_desc=True) if ids else []
        for row in rows:
            if (message := _message(row)) is not None:
                yield _letter(row, message, _event(message.text))

    def retry(self, delivery_id: str) -> bool:
        """Put a delivery back into the queue, as if it had just arrived, with all its attempts.

        False if it is no dead letter, or its content has been erased (C6a).
        """
        with named_failures():
            prepare(self._engine)
            rows = self._client.list_workflows(workflow_id_prefix=delivery_id, name=WORKFLOW, status=GIVEN_UP)
            for row in rows:
                message = _message(row)
                if message is not None and message.delivery_id == delivery_id:
                    return self._again(message, row.workflow_id)
        return False

    def _again(self, message: Message, letter: str) -> bool:
        """Whether it is in the queue instead of the letter now, which somebody else may have retried meanwhile."""
        fresh = replace(message.again(0), arrived=time.time_ns() // 1_000_000)
        # The next run is there already where a worker was killed between putting it there and noting the end of this.
        while not enqueue(self._client, self._engine, fresh, 0.0, instead_of=letter):
            if not self._client.list_workflows(workflow_ids=[letter], status=GIVEN_UP):
                return False
            fresh = fresh.again(0)
        return True

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _message(row: WorkflowStatus) -> Message | None:
    """What the workflow was given; None where that has been erased."""
    arguments: Any = row.input
    return restored(*arguments["args"]) if arguments else None


def _letter(row: WorkflowStatus, message: Message, event: Event | None) -> DeadLetter:
    ended = row.status == GIVEN_UP[0] and str(row.error) != DIED
    return DeadLetter(
        delivery_id=message.delivery_id,
        event=full_name(event) if event else "unknown",
        repository=None if event is None or isinstance(event, InstallationEvent) else event.repository.ref,
        attempts=message.failures + 1 if ended else 0,
        failed_at=(row.completed_at or 0) / 1000,
        reason=str(row.error) if ended else DIED,
    )


def _event(text: str) -> Event | None:
    """The event; None where this version cannot read it, which is why some letters are dead."""
    try:
        return from_json(text)
    except (ValueError, LookupError, TypeError):
        return None
