"""Dead letters: jobs that the workers have given up. `doppel jobs` and the dashboard list and retry them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.deliveries.database import DIED, SCHEDULE, jobs, named_failures, prepare, queue_engine, read_jobs, state
from bot.deliveries.events import InstallationEvent, from_json, full_name
from bot.domain.entities import RepoRef
from bot.platform.settings import Settings
from bot.storage.engine import database_time, write

MOST = 10_000  # Dead letters are kept for a month, in which fewer accumulate.


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job given up. `event` is a name like `issues.opened`; `attempts` is 0 if the job killed its workers (DIED).

    `failed_at`: seconds since 1970. `reason`: the last error, without secrets or issues' texts (`logs.describe`).
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
        self._engine = queue_engine(settings, pool_size=3)

    def of(self, repo_id: int) -> tuple[DeadLetter, ...]:
        """The dead letters of one repository, the latest first, including those from before a rename."""
        return tuple(self.list(MOST, jobs.c.repository == repo_id))

    def list(self, limit: int = 100, *conditions: sa.ColumnElement[bool]) -> list[DeadLetter]:
        """The dead letters that nobody has retried, the latest first."""
        query = sa.select(jobs).where(is_dead(), *conditions).order_by(jobs.c.number.desc()).limit(limit)
        return [_letter(row) for row in read_jobs(self._engine, query)]

    def retry(self, delivery_id: str) -> bool:
        """Put a dead letter back into the queue, as if it had just arrived; False if no dead letter has this id."""
        now = database_time(self._engine)
        fresh = {"state": "waiting", "attempts": 0, "crashes": 0, "last_error": "", "done_at": None}
        update = sa.update(jobs).where(is_dead(), jobs.c.id == delivery_id)
        with named_failures():
            prepare(self._engine)
            with write(self._engine) as connection:
                return connection.execute(update.values(**fresh, arrived_at=now, run_after=now)).rowcount > 0

    def close(self) -> None:
        self._engine.dispose()


def is_dead() -> sa.ColumnElement[bool]:
    """A condition for dead letters, except erased ones and scheduled tasks."""
    # `state` repeats the condition of the index `jobs_ended`: otherwise SQLite would not use the index.
    return sa.and_(state("done", "dead"), jobs.c.state == "dead", jobs.c.payload != "", jobs.c.queue != SCHEDULE)


def _letter(row: sa.Row[Any]) -> DeadLetter:
    try:
        event = from_json(row.payload)
    except (ValueError, LookupError, TypeError):
        # A job may be dead just because this version cannot read its payload.
        event = None
    return DeadLetter(
        delivery_id=row.id,
        event=full_name(event) if event else "unknown",
        repository=None if event is None or isinstance(event, InstallationEvent) else event.repository.ref,
        attempts=0 if row.last_error == DIED else row.attempts,
        failed_at=row.done_at,
        reason=row.last_error,
    )
