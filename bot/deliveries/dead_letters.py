"""Reads the queue: what has arrived, what it holds of a repository, and the dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.deliveries.database import DIED, QUEUE, SCHEDULE, jobs, named_failures, prepare, queue_engine, state
from bot.deliveries.events import InstallationEvent, from_json, full_name
from bot.domain.entities import RepoRef
from bot.platform.settings import Settings
from bot.storage.engine import database_time, write

# More dead letters than pile up in the month for which they are kept.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that is tried again only when a person asks for it.

    `event` is GitHub's name with the action (`issues.opened`). `attempts` is 0 if no attempt ever ended. `failed_at` is
    in seconds since 1970. `reason` is the last error by `bot.platform.logs.describe`: no secrets, no issue's words.
    """

    delivery_id: str
    event: str
    repository: RepoRef | None
    attempts: int
    failed_at: float
    reason: str


class DeadLetters:
    """The dead letters, for people who host the bot. All methods raise QueueUnavailable if the database is away."""

    def __init__(self, settings: Settings) -> None:
        """Does not connect."""
        self._engine = queue_engine(settings, pool_size=3)

    def of(self, repo_id: int) -> tuple[DeadLetter, ...]:
        """Those of one repository, the latest first, whatever its name was then."""
        return tuple(self.list(MOST, jobs.c.repository == repo_id))

    def list(self, limit: int = 100, *which: sa.ColumnElement[bool]) -> list[DeadLetter]:
        """All that have not been retried since, the latest first."""
        query = sa.select(jobs).where(is_dead(), *which).order_by(jobs.c.number.desc()).limit(limit)
        return [_letter(row) for row in _rows(self._engine, query)]

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
    """A repository's jobs that have content, in order of arrival, ready for JSON (C6a). Raises QueueUnavailable."""
    rows = _some(settings, jobs.c.repository == repository_id, jobs.c.payload != "")
    return [{"id": row.id, "status": row.state, "arrived": row.arrived_at, "content": row.payload} for row in rows]


def is_dead() -> sa.ColumnElement[bool]:
    """Whether a job is a dead letter."""
    # The first condition repeats the index's own, as SQLite wants it.
    return sa.and_(state("done", "dead"), jobs.c.state == "dead", jobs.c.queue != SCHEDULE)


def _some(settings: Settings, *which: sa.ColumnElement[bool], limit: int | None = None) -> Sequence[sa.Row[Any]]:
    engine = queue_engine(settings, pool_size=3)
    try:
        return _rows(engine, sa.select(jobs).where(*which).order_by(jobs.c.number).limit(limit))
    finally:
        engine.dispose()


def _rows(engine: sa.Engine, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
    with named_failures():
        prepare(engine)
        with engine.connect() as connection:
            return connection.execute(query).all()


def _letter(row: sa.Row[Any]) -> DeadLetter:
    try:
        event = from_json(row.payload)
    except (ValueError, LookupError, TypeError):
        # Some letters are dead because this version cannot read them.
        event = None
    return DeadLetter(
        delivery_id=row.id,
        event=full_name(event) if event else "unknown",
        repository=None if event is None or isinstance(event, InstallationEvent) else event.repository.ref,
        attempts=0 if row.last_error == DIED else row.attempts,
        failed_at=row.done_at,
        reason=row.last_error,
    )
