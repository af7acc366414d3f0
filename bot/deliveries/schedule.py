"""Scheduled work without a delivery: each chore is a row of the queue, which one of all the workers claims in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.deliveries.database import SCHEDULE, jobs, state
from bot.deliveries.queue import Claim, Entry, Queue
from bot.storage.engine import write

# Seconds. A turn further ahead than the next one was set by a clock that has been set back since.
_SLACK = 60.0


@dataclass(frozen=True, slots=True)
class Chore:
    """One of the workers calls `do` every `every` seconds, counted from 1970, and logs its errors.

    With `at_start` it also gets a turn when a worker starts. `late` delays each turn by so many seconds, so that other
    chores of the same time are done before.
    """

    name: str
    every: float
    do: Callable[[], None]
    at_start: bool = False
    late: float = 0.0

    @property
    def id(self) -> str:
        """The id of its row in the queue."""
        return f"{SCHEDULE}:{self.name}"

    def wait(self, now: float) -> float:
        """Seconds until the next turn, at a time in seconds since 1970."""
        return self.every - (now - self.late) % self.every


class Schedule:
    """The chores of one worker in the queue. Raises what SQLAlchemy raises."""

    def __init__(self, queue: Queue, chores: Iterable[Chore]) -> None:
        self._queue = queue
        self._chores = {chore.id: chore for chore in chores}

    def chore(self, claim: Claim) -> Chore | None:
        """The chore that was claimed; None if this version has none of that name."""
        return self._chores.get(claim.id)

    def again(self, claim: Claim, chore: Chore) -> bool:
        """End this turn, however it went, and schedule the next. Whether the claim still held."""
        with self._queue.engine.connect() as connection:
            now = connection.execute(sa.select(self._queue.now)).scalar_one()
        return self._queue.again(claim, chore.wait(now))

    def keep(self, *, starting: bool = False) -> None:
        """Enter missing chores, each due at once, and give those `at_start` a turn, when a worker starts.

        Also repairs a turn that a clock had put off before it was set back, and a chore that was given up a turn ago.
        """
        if starting:
            self._queue.put([Entry(one, SCHEDULE, 0, 0, one, "") for one in self._chores])
        c, now = jobs.c, self._queue.now
        with write(self._queue.engine) as connection:
            for one in self._chores.values():
                early = sa.true() if starting and one.at_start else c.run_after > now + one.every + _SLACK
                given_up = sa.and_(state("dead"), c.done_at < now - one.every)
                which = sa.or_(sa.and_(state("waiting"), early), given_up)
                turn = sa.update(jobs).where(c.id == one.id, which)
                connection.execute(turn.values(state="waiting", run_after=now, done_at=None))
