"""Work that nobody delivers: what one of all the workers does every so often. Each chore is a row of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.jobs.database import SCHEDULE, jobs, state
from bot.jobs.queue import Claim, Entry, Queue
from bot.store.database.engine import write

# Seconds. A turn that lies further ahead than the next was set by a clock that has been set back since.
_SLACK = 60.0


@dataclass(frozen=True, slots=True)
class Chore:
    """`do` is called every `every` seconds in one worker; what it raises is logged, and the next turn comes in time.

    The turns are counted from 1970. `at_start`: each worker that starts also gives it a turn. `late`: seconds after
    which a turn begins, so that it finds done what other chores do at the same time.
    """

    name: str
    every: float
    do: Callable[[], None]
    at_start: bool = False
    late: float = 0.0

    @property
    def id(self) -> str:
        """Under which it is in the queue."""
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
        """The chore that was claimed; None where this version has none of this name."""
        return self._chores.get(claim.id)

    def again(self, claim: Claim, chore: Chore) -> bool:
        """Its turn is over, whatever came of it, and the next comes in time. Whether it still was this claim's."""
        with self._queue.engine.connect() as connection:
            now = connection.execute(sa.select(self._queue.now)).scalar_one()
        return self._queue.again(claim, chore.wait(now))

    def keep(self, *, starting: bool = False) -> None:
        """Enter the chores that are not there, each to be done at once, and those `at_start`, when a worker is.

        Brings forward what a clock put off that has been set back since, and a turn later what killed its workers.
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
