"""A machine that stands still: a worker is stopped for longer than its leases hold, and goes on where it was.

The others take it for dead and do its work. When it comes back to life it knows nothing of that, and is in the middle
of the same work: it may do it a second time, and must not say it a second time.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable

import sqlalchemy as sa

from bench.chaos import worker
from bench.chaos.fleet import Fleet
from bench.chaos.world import World
from bot.deliveries.database import QUEUE, jobs, queue_engine, state
from bot.storage.comments import CommentState
from bot.storage.engine import make_engine
from bot.storage.schema import comments

PATIENCE = 2.0
"""Seconds in which a moment is looked for at which a comment is about to be written; then twice as many for any."""
AFTERWARDS = 2.5
"""Seconds in which whoever was stopped has ended what it was at: more than one request to GitHub may take."""


class Freezes:
    """What stops a worker, and whether all of that is over."""

    def __init__(self, run: World, fleet: Fleet) -> None:
        self._run, self._fleet = run, fleet
        self._rng = random.Random(run.plan.seed + 3)
        self._threads: list[threading.Thread] = []

    def blows(self) -> dict[float, Callable[[], None]]:
        """Spread over the first three quarters of the deeds, by the share of the deeds that have been done before."""
        times = self._run.plan.freezes
        return {0.75 * (turn + self._rng.random()) / times: self._begin for turn in range(times)}

    @property
    def over(self) -> bool:
        """Whether everybody moves again, and has had the time to end what it was at."""
        return not any(thread.is_alive() for thread in self._threads)

    def _begin(self) -> None:
        thread = threading.Thread(target=self._freeze, name="a machine that stands still", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _freeze(self) -> None:
        queue = queue_engine(self._run.settings, pool_size=1)
        store = make_engine(self._run.settings.database_url, pool_size=1)
        with self._fleet.spared(self._rng) as name:
            pid, held = self._stop(name, queue, store)
            left = self._wait(held, lambda: _held(queue, pid))
            resumed = time.monotonic()
            self._fleet.send(name, signal.SIGCONT)
        taken = "nobody knows how many" if left is None else len(held - left)
        self._run.calamities.append(f"{name} stood still, {taken} of its {len(held)} jobs taken over")
        queue.dispose()
        store.dispose()
        time.sleep(AFTERWARDS)
        taken_over = frozenset() if left is None else held - left
        for write in worker.writes(self._run.home / "writes"):
            if write.token in taken_over and write.at >= resumed:
                self._run.unfenced_writes.append(f"{name} wrote for {write.job}, which another had taken over")

    def _wait(self, held: set[str], ask: Callable[[], set[str] | None]) -> set[str] | None:
        """Let it stand still, half as long again if the others were killed themselves; what is not taken over then."""
        frozen = self._run.plan.frozen
        time.sleep(frozen)
        end = time.monotonic() + frozen / 2
        while (left := ask()) in (held, None) and held and time.monotonic() < end:
            time.sleep(0.5)
        return left

    def _stop(self, name: str, queue: sa.Engine, store: sa.Engine) -> tuple[int, set[str]]:
        """Stop a worker in the middle of its work, best while a comment is claimed; its process and its jobs."""
        begun = time.monotonic()
        while True:
            pid = self._fleet.send(name, signal.SIGSTOP)
            held = _held(queue, pid) or set()
            waited = time.monotonic() - begun
            if waited > 3 * PATIENCE or (held and (waited > PATIENCE or _commenting(store))):
                return pid, held
            # At rest, or killed just now and not back yet: nothing would come of it.
            self._fleet.send(name, signal.SIGCONT)
            time.sleep(0.01)


def _held(queue: sa.Engine, pid: int) -> set[str] | None:
    """The leases of the jobs that the worker with this process id is at; None: it cannot be told."""
    mine = jobs.c.lease_token.like(f"%:{pid}:%")
    query = sa.select(jobs.c.lease_token).where(state("running"), mine, jobs.c.queue == QUEUE)
    try:
        with queue.connect() as connection:
            return set(connection.execute(query).scalars())
    except sa.exc.SQLAlchemyError:
        # The database is away.
        return None


def _commenting(store: sa.Engine) -> bool:
    """Whether a comment is claimed and its outcome not known."""
    claimed = sa.select(sa.func.count()).where(comments.c.state == CommentState.INTENDED)
    try:
        with store.connect() as connection:
            return bool(connection.execute(claimed).scalar_one())
    except sa.exc.SQLAlchemyError:
        return False
