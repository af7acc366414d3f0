"""The whole bot in one process, with a GitHub of its own, which the end-to-end tests of a process share.

Deliveries are signed by the simulator and taken by the real Flask application; the real queue on SQLite hands them to a
real worker; the real client speaks real HTTP. Only waiting is shortened: the bot sleeps on the simulated clock.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.app.wiring.worker_process import build_services, job_handler
from bot.conversation.comments import CommentWriter
from bot.conversation.marker import of_app
from bot.deliveries import queue as retries
from bot.deliveries import worker as worker_module
from bot.deliveries.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, SCHEDULE, jobs, queue_engine, state
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.queue import Queue
from bot.deliveries.worker import Job, Worker
from bot.github.client import GitHub
from bot.platform.settings import Settings
from bot.search.indexer import Indexer
from bot.simulator import Server, Simulator, start_simulator
from bot.simulator.clock import Clock
from bot.simulator.search import Result
from bot.storage.engine import write
from handlers.services import Services
from tests.embeddings import remembered
from tests.served import deliver_here
from tests.waiting import LONGEST, wait_until

SECRET = "a-secret-of-the-tests"
LEASE = 0.3

# In plain SQL, since it is asked a hundred times a second. What is put off for an hour from the start waits for
# `let_pass`.
_UNFINISHED = f"""
SELECT count(*) FROM jobs WHERE state IN ('waiting', 'running')
AND queue IN ('{QUEUE}', '{BACKGROUND_QUEUE}', '{REPLAY_QUEUE}')
AND NOT (attempts = 0 AND run_after > arrived_at + 1800)
"""


@dataclasses.dataclass
class World:
    """Everything that is started once: simulator, receiver, worker. Each test works in a repository of its own."""

    server: Server
    settings: Settings
    services: Services
    queue: sa.Engine
    looks: sqlite3.Connection
    dead_letters: DeadLetters
    # While it is cleared, the worker waits before each job.
    gate: threading.Event = dataclasses.field(default_factory=threading.Event)
    searches: int = 0

    @property
    def sim(self) -> Simulator:
        return self.server.sim

    def unfinished(self) -> int:
        """How many deliveries are queued, at work, or waiting for another try."""
        (count,) = self.looks.execute(_UNFINISHED).fetchone()
        return int(count)

    def settle(self) -> None:
        """Wait until every webhook is delivered and every delivery is worked on, those that this causes included."""

        def settled() -> bool:
            delivered = len(self.sim.webhooks.log)
            self.sim.webhooks.join(LONGEST)
            return not self.unfinished() and len(self.sim.webhooks.log) == delivered

        wait_until(settled, "working on all deliveries")

    def let_pass(self, seconds: float) -> None:
        """Wait until something waits for another try, and let so many seconds pass for it and for GitHub."""
        # What is due already waits for nothing but the worker's next look.
        waits = (state("waiting"), jobs.c.queue != SCHEDULE, jobs.c.run_after > Queue(self.queue).now)
        sooner = sa.update(jobs).where(*waits).values(run_after=jobs.c.run_after - seconds)

        def passed() -> bool:
            with write(self.queue) as connection:
                return connection.execute(sooner).rowcount > 0

        wait_until(passed, "waiting for another try")
        self.sim.clock.advance(seconds)


@contextmanager
def start_world(home: Path) -> Iterator[World]:
    """Start everything, and stop it at the end."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        stack.enter_context(remembered())
        server = stack.enter_context(start_simulator())
        patch.setattr(retries, "_FIRST_WAIT", 0.1)
        patch.setattr(worker_module, "POLL_EVERY", 0.05)
        server.sim.app.hook.secret = SECRET
        settings = Settings(
            home=home,
            database_url=f"sqlite:///{home / 'doppel.db'}",
            app_id=server.app_id,
            private_key=server.private_key_pem,
            webhook_secrets=(SECRET,),
            github_api_url=server.url,
            debounce_seconds=0.2,
            worker_threads=3,
        )
        # Nothing here must survive a power cut.
        settings = settings.model_copy(update={"sqlite_synchronous": "OFF"})
        prepare_databases(settings)
        services = build_services(settings)
        clock = server.sim.clock
        github = client(services, clock)
        services = dataclasses.replace(
            services,
            github=github,
            clock=clock.now,
            comments=CommentWriter(services.store.comments, of_app(server.app_id), clock.now, lease=LEASE),
            indexing=Indexer(services.index, services.store, services.inbox, clock.now),
        )
        deliver_here(server, settings)
        queue = queue_engine(settings)
        looks = stack.enter_context(closing(sqlite3.connect(str(queue.url.database), check_same_thread=False)))
        world = World(server, settings, services, queue, looks, DeadLetters(settings))
        world.gate.set()

        def work(job: Job) -> None:
            world.gate.wait(LONGEST)
            job_handler(world.services)(job)

        def search(*arguments: Any, **options: Any) -> Result:
            world.searches += 1
            return index_search(*arguments, **options)

        index_search = server.sim.index.search
        patch.setattr(server.sim.index, "search", search)
        worker = Worker(settings, work)
        worker.start()
        try:
            yield world
        finally:
            worker.stop(2.0)
            world.queue.dispose()
            world.dead_letters.close()
            services.inbox.close()
            services.store.close()
            github.close()


def client(services: Services, clock: Clock, *, ahead: float = 0.0, timeout: float = LONGEST) -> GitHub:
    """The client of a host whose clock is so many seconds ahead of GitHub's, and which waits so long for an answer."""
    settings = services.settings
    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        timeout=timeout,
        clock=lambda: clock.timestamp() + ahead,
        monotonic=clock.timestamp,
        sleep=clock.advance,
        jitter=lambda: 0.0,
    )
