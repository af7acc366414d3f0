"""A job that may have taken its worker down is tried alone, so that it takes nobody down with it.

When a worker dies, nobody knows which of its jobs did it: DBOS counts a claim for each that it held, those that only
waited included. Given up by that count, a dozen innocent ones would go with the one that kills, whose worker it kills
again and again. So what has been claimed before runs alone in its worker, and that it runs is noted first: who finds
such a note of its own knows that it was this very job.

Background work and chores can last for hours, and no delivery waits for them. What of these has been claimed before is
tried when all deliveries that were claimed before are done, so that it is none of them that kills its worker, nor is it
blamed for one of them; and then beside new ones, which are tried before it if it kills them all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.errors import DoppelError
from bot.jobs.queue.database import trials
from bot.jobs.queue.steadily import steadily
from bot.store.database.engine import write

DIED = "its worker died each time it was tried"
MOST_DEATHS = 5
"""So often may a worker die of a job that runs alone."""

SETTLED = 5.0
"""Seconds without a delivery that is tried alone, after which none is expected: a worker that begins claims again what
the dead one held, as soon as its lanes are free."""


class Deadly(DoppelError):
    """Every worker that tried this job alone has died."""


class Trials:
    """Who runs alone, in one worker process. Thread safe."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._changed = threading.Condition()
        self._running = 0
        self._alone = False
        self._tried_at = time.monotonic()
        self._noted: set[str] = set()

    @contextmanager
    def fair(self, workflow_id: str, claims: int, *, behind: bool = False) -> Iterator[None]:
        """Run a job beside others, or alone if it is suspect. Raises Deadly for what has killed too often.

        `claims` is how often a worker has taken it, this time included. `behind` is for background work and chores,
        which wait for deliveries and keep none waiting.
        """
        if claims <= 1:
            with self._behind(0.0) if behind else self._beside():
                yield
            return
        with self._behind(SETTLED) if behind else self._by_itself():
            deaths = steadily(lambda: self._begin(workflow_id))
            self._noted.add(workflow_id)
            try:
                if deaths >= MOST_DEATHS:
                    raise Deadly(DIED)
                yield
            finally:
                self._noted.discard(workflow_id)
                steadily(lambda: self.end(workflow_id))

    def cut_off(self) -> None:
        """Forget what is still tried here, because this worker ends in order; nobody died of it."""
        for workflow_id in list(self._noted):
            self.end(workflow_id)

    def end(self, workflow_id: str) -> None:
        """Forget that it is tried; nobody died of it."""
        with write(self._engine) as connection:
            connection.execute(sa.delete(trials).where(trials.c.workflow_id == workflow_id))

    @contextmanager
    def _beside(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def _by_itself(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            # From here on nobody begins, and those who have begun end.
            self._alone = True
            self._changed.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._tried_at = time.monotonic()
                self._changed.notify_all()

    @contextmanager
    def _behind(self, settled: float) -> Iterator[None]:
        """Begin when nobody is tried alone, nor was for some seconds. Who is tried alone afterwards does not wait."""
        with self._changed:
            begun = time.monotonic()
            while self._alone or (left := max(begun, self._tried_at) + settled - time.monotonic()) > 0:
                self._changed.wait(None if self._alone else left)
        yield

    def _begin(self, workflow_id: str) -> int:
        """Note a trial; how many before it had no end."""
        mine = trials.c.workflow_id == workflow_id
        with write(self._engine) as connection:
            deaths = connection.execute(sa.select(trials.c.begun).where(mine)).scalar_one_or_none()
            if deaths is None:
                connection.execute(sa.insert(trials).values(workflow_id=workflow_id, begun=1))
            else:
                connection.execute(sa.update(trials).where(mine).values(begun=deaths + 1))
            return deaths or 0
