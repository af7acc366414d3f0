"""A worker that runs, for all tests of a file on one database, and says for each delivery what its handler does."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.deliveries import queue
from bot.deliveries import worker as worker_module
from bot.deliveries.database import jobs, prepare, queue_engine
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.events import EvaluationEvent, IndexEvent, IssueEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import Queue
from bot.deliveries.worker import Job, Worker
from bot.domain.entities import Actor, RepoRef, Repository
from bot.platform.settings import Settings
from bot.storage.engine import write
from tests.conftest import KINDS

_number = itertools.count(1)


def repository(repo_id: int) -> Repository:
    return Repository(repo_id, RepoRef("acme", "app"), private=False)


def event(number: int, action: str = "opened", repo_id: int = 5, installation: int = 1, label: str = "") -> IssueEvent:
    return IssueEvent(action, installation, repository(repo_id), number, Actor("ann"), Actor("ann"), label=label)


def step(repo_id: int) -> IndexEvent:
    return IndexEvent(1, repository(repo_id), "chain")


def replay(repo_id: int) -> EvaluationEvent:
    return EvaluationEvent(1, repository(repo_id), "asked")


def row(engine: sa.Engine, job: str) -> sa.Row[Any]:
    """How a job stands."""
    with engine.connect() as connection:
        return connection.execute(sa.select(jobs).where(jobs.c.id == job)).one()


def change(engine: sa.Engine, *ids: str, **values: Any) -> None:
    """Let jobs look as the test needs them."""
    with write(engine) as connection:
        changed = sa.update(jobs).where(jobs.c.id.in_(ids)).values(**values)
        assert connection.execute(changed).rowcount == len(ids)


class Bench:
    """A running worker whose handler does what the test has said for a delivery."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.inbox = Inbox(settings)
        self.dead_letters = DeadLetters(settings)
        self.engine = queue_engine(settings)
        self.queue = Queue(self.engine)
        self.lock = threading.Lock()
        self.handled: list[Job] = []
        self.running: dict[str, int] = defaultdict(int)
        self.overlaps = 0
        self.taken_over = set[str]()
        self.reactions: dict[str, Callable[[Job], None]] = {}
        self.worker = Worker(settings, self.handle)

    def handle(self, job: Job) -> None:
        with self.lock:
            self.handled.append(job)
            self.running[job.event.partition] += 1
            self.overlaps += self.running[job.event.partition] > 1 and job.event.partition not in self.taken_over
        try:
            if reaction := self.reactions.get(job.delivery_id):
                reaction(job)
        finally:
            with self.lock:
                self.running[job.event.partition] -= 1

    def calls(self, *deliveries: str) -> list[tuple[str, int]]:
        """What was handled of these deliveries, in order, and in which attempt."""
        with self.lock:
            return [(job.delivery_id, job.attempt) for job in self.handled if job.delivery_id in deliveries]

    def states(self, *ids: str) -> list[str]:
        return [row(self.engine, one).state for one in ids]

    def waits(self, job: str) -> float:
        """Seconds until a job is due."""
        with self.engine.connect() as connection:
            return float(
                connection.execute(sa.select(jobs.c.run_after - self.queue.now).where(jobs.c.id == job)).scalar_one()
            )

    def due(self, *ids: str, **values: Any) -> None:
        """Let what waits for its time wait no longer."""
        change(self.engine, *ids, run_after=self.queue.now, **values)

    def expire(self, *ids: str) -> None:
        """What the lease's end does to jobs that run: their worker has stood still, and beside it another begins."""
        self.taken_over |= {row(self.engine, one).partition for one in ids}
        change(self.engine, *ids, lease_until=0.0)
        self.queue.expire()


class Held:
    """Work that lasts until it is let go; `most` is how many pieces of it were at work at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.at_work = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, job: Job) -> None:
        with self._lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        self.go.wait()
        with self._lock:
            self.at_work -= 1


@pytest.fixture(scope="module", params=KINDS)
def bench(
    request: pytest.FixtureRequest, new_store: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=new_store(request.param), worker_threads=4)
    bench = Bench(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "_FIRST_WAIT", 0.1)
        patch.setattr(worker_module, "POLL_EVERY", 0.05)
        bench.worker.start()
        yield bench
        assert bench.worker.stop()
    assert bench.overlaps == 0, "two jobs of one partition ran at the same time"
    bench.inbox.close()
    bench.dead_letters.close()
    bench.engine.dispose()


@pytest.fixture
def number() -> int:
    """An issue that no other test uses."""
    return next(_number)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=database_url, worker_threads=2)


@pytest.fixture
def engine(settings: Settings) -> Iterator[sa.Engine]:
    """A queue on which nobody works."""
    engine = queue_engine(settings)
    prepare(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def inbox(settings: Settings) -> Iterator[Inbox]:
    inbox = Inbox(settings)
    yield inbox
    inbox.close()
