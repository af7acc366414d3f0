"""What the queue holds, for those who look: what came, what a repository has, what was given up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.events import Event, InstallationEvent, from_json, full_name
from bot.jobs.database import (
    QUEUE,
    SCHEDULE,
    jobs,
    named_failures,
    prepare,
    queue_engine,
    state,
)
from bot.jobs.retry import DIED
from bot.model import RepoRef
from bot.settings import Settings
from bot.store.database.engine import database_time, write

MOST = 10_000
"""So many are looked at where all are meant: more than a month's worth, after which they are deleted."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that nobody will try again by itself.

    `event` is GitHub's name with the action (`issues.opened`), `repository` None where the event is not about one.
    `attempts` is 0 if no attempt ever ended. `failed_at` is in seconds since 1970. `reason` is the last error as
    `bot.telemetry.errors.describe` puts it: without secrets, and without a word of an issue.
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

    def of(self, repo_id: int) -> tuple[DeadLetter, ...]:
        """Those of one repository, the latest first, whatever it was called then."""
        return tuple(self._letters(MOST, jobs.c.repository == repo_id))

    def list(self, limit: int = 100) -> list[DeadLetter]:
        """What has been given up and not been retried since, the latest first."""
        return [*self._letters(limit, sa.true())]

    def _letters(self, limit: int, which: sa.ColumnElement[bool]) -> Iterable[DeadLetter]:
        query = sa.select(jobs).where(is_dead(), which).order_by(jobs.c.number.desc()).limit(limit)
        with named_failures():
            prepare(self._engine)
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
        return (_letter(row, _event(row.payload)) for row in rows)

    def retry(self, delivery_id: str) -> bool:
        """Put a delivery back into the queue, as if it had just arrived, with all its attempts.

        False if it is no dead letter, or its content has been erased (C6a).
        """
        now = database_time(self._engine)
        fresh = {"state": "waiting", "attempts": 0, "crashes": 0, "last_error": "", "done_at": None}
        again = sa.update(jobs).where(is_dead(), jobs.c.id == delivery_id)
        with named_failures():
            prepare(self._engine)
            with write(self._engine) as connection:
                return connection.execute(again.values(**fresh, arrived_at=now, run_after=now)).rowcount > 0

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def has_arrived(settings: Settings, since: float) -> bool:
    """Whether any delivery was committed to the queue after `since`, in seconds since 1970. Raises QueueUnavailable."""
    return bool(_some(settings, jobs.c.queue == QUEUE, jobs.c.arrived_at > since, limit=1))


def holdings(settings: Settings, repository_id: int) -> list[dict[str, Any]]:
    """The jobs of a repository that have content, in order of arrival, ready for JSON (C6a). Raises QueueUnavailable.

    `arrived` is in seconds since 1970; `content` is the event.
    """
    rows = _some(settings, jobs.c.repository == repository_id, jobs.c.payload != "")
    return [{"id": row.id, "status": row.state, "arrived": row.arrived_at, "content": row.payload} for row in rows]


def _some(settings: Settings, *which: sa.ColumnElement[bool], limit: int | None = None) -> Sequence[sa.Row[Any]]:
    engine = queue_engine(settings, pool_size=3)
    try:
        with named_failures():
            prepare(engine)
            with engine.connect() as connection:
                return connection.execute(sa.select(jobs).where(*which).order_by(jobs.c.number).limit(limit)).all()
    finally:
        engine.dispose()


def is_dead() -> sa.ColumnElement[bool]:
    """Whether a job is a dead letter."""
    # The first condition repeats the index's own, as SQLite wants it.
    return sa.and_(state("done", "dead"), jobs.c.state == "dead", jobs.c.queue != SCHEDULE)


def _letter(row: sa.Row[Any], event: Event | None) -> DeadLetter:
    return DeadLetter(
        delivery_id=row.id,
        event=full_name(event) if event else "unknown",
        repository=None if event is None or isinstance(event, InstallationEvent) else event.repository.ref,
        attempts=0 if row.last_error == DIED else row.attempts,
        failed_at=row.done_at,
        reason=row.last_error,
    )


def _event(text: str) -> Event | None:
    """The event; None where this version cannot read it, which is why some letters are dead."""
    try:
        return from_json(text)
    except (ValueError, LookupError, TypeError):
        return None
