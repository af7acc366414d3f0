"""A running worker for tests, which say for each delivery what its handler does."""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Callable

import sqlalchemy as sa

from bot.events import EvaluationEvent, IssueEvent
from bot.jobs import DeadLetters, Inbox, Job, Worker
from bot.jobs.queue.database import input_table, queue_engine, workflow_table
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings

_number = itertools.count(1)


def new_number() -> int:
    """An issue that no other test uses."""
    return next(_number)


def replay(repo_id: int) -> EvaluationEvent:
    return EvaluationEvent(1, Repository(repo_id, RepoRef("acme", "app"), private=False), "asked")


def event(number: int, action: str = "opened", repo_id: int = 5, installation: int = 1) -> IssueEvent:
    repository = Repository(repo_id, RepoRef("acme", "app"), private=False)
    return IssueEvent(action, installation, repository, number, Actor("ann"), Actor("ann"))


class Bench:
    """A running worker whose handler does what the test has said for a delivery."""

    def __init__(self, settings: Settings) -> None:
        self.inbox = Inbox(settings)
        self.dead_letters = DeadLetters(settings)
        self.engine = queue_engine(settings)
        self.lock = threading.Lock()
        self.handled: list[tuple[str, int, float]] = []
        self.running: dict[str, int] = defaultdict(int)
        self.overlaps = 0
        self.arrived: dict[str, float] = {}
        self.reactions: dict[str, Callable[[Job], None]] = {}
        self.worker = Worker(settings, self.handle)

    def handle(self, job: Job) -> None:
        with self.lock:
            self.arrived[job.delivery_id] = job.arrived
            self.handled.append((job.delivery_id, job.attempt, time.time()))
            self.running[job.event.partition] += 1
            self.overlaps += self.running[job.event.partition] > 1
        try:
            if reaction := self.reactions.get(job.delivery_id):
                reaction(job)
        finally:
            with self.lock:
                self.running[job.event.partition] -= 1

    def calls(self, *deliveries: str) -> list[tuple[str, int, float]]:
        """What was handled of these deliveries, in order: delivery, attempt, time."""
        with self.lock:
            return [call for call in self.handled if call[0] in deliveries]

    def statuses(self, *ids: str) -> list[str]:
        workflows = workflow_table(self.engine)
        query = sa.select(workflows.c.status).where(workflows.c.workflow_uuid.in_(ids))
        with self.engine.connect() as connection:
            return list(connection.execute(query.order_by(workflows.c.workflow_uuid)).scalars())

    def claimed(self, workflow_id: str, times: int) -> None:
        """Let it look as if so many workers had died with it."""
        workflows = workflow_table(self.engine)
        mine = sa.update(workflows).where(workflows.c.workflow_uuid == workflow_id)
        with self.engine.begin() as connection:
            connection.execute(mine.values(recovery_attempts=times))

    def waits(self, workflow_id: str) -> float:
        """For how many seconds something waits that is in the queue for later, counted from when it came there."""
        workflows = workflow_table(self.engine)
        query = sa.select(workflows.c.delay_until_epoch_ms - workflows.c.updated_at)
        with self.engine.connect() as connection:
            return float(connection.execute(query.where(workflows.c.workflow_uuid == workflow_id)).scalar_one()) / 1000

    def due(self, *ids: str) -> None:
        """Let what waits for its time wait no longer."""
        workflows = workflow_table(self.engine)
        waiting = sa.update(workflows).where(workflows.c.workflow_uuid.in_(ids), workflows.c.status == "DELAYED")
        with self.engine.begin() as connection:
            assert connection.execute(waiting.values(delay_until_epoch_ms=0)).rowcount == len(ids)

    def has_content(self, workflow_id: str) -> bool:
        inputs = input_table(self.engine)
        query = sa.select(inputs.c.workflow_uuid).where(inputs.c.workflow_uuid == workflow_id)
        with self.engine.connect() as connection:
            return connection.execute(query).first() is not None
