"""How fast a worker empties a queue of 20,000 events, what it needs meanwhile, and what bounds the rate.

    .venv/bin/python -m bench.drain [--events 20000] [--installations 40] [--database sqlite|postgres|both] [--what …]

Twice for each kind of database, with one worker of default settings: first with handlers that do nothing, which is the
queue alone (`--what queue`), then with the real ones against the simulator (`--what handlers`). The events are opened
issues of 40 installations, one repository with 20 earlier issues each, that resemble no other, so that nobody is
commented to: comments are limited to 80 a minute by GitHub, which would be measured otherwise. Each issue has an author
of its own, because the bot defers an author's eleventh issue within an hour. The repositories' earlier issues are in
the index, and searches by meaning are off for the same reason. Printed are events a second, processor time of worker
and simulator, and the worker's memory on its way.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sqlalchemy as sa

from bench.hosting import KINDS, cpu_seconds, database, memory_mb
from bot.app.demo.show import environment
from bot.app.wiring.clients import prepare_databases
from bot.deliveries.database import BACKGROUND_QUEUE, QUEUE, jobs, prepare, queue_engine, state
from bot.deliveries.events import IssueEvent
from bot.deliveries.inbox import new_job
from bot.deliveries.queue import Queue
from bot.deliveries.worker import Job
from bot.domain.entities import Actor, RepoRef, Repository
from bot.platform.settings import Settings, load
from bot.simulator import Server, start_simulator
from bot.storage.engine import make_engine

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = 10
PATIENCE_SECONDS = 900.0
HISTORY = 20
"""Issues that each repository has in the index before the events."""


@dataclass
class Drained:
    """What one run took; memory in MB."""

    events: int
    seconds: float
    worker_cpu: float
    simulator_cpu: float
    memory: list[float] = field(default_factory=list)

    def tell(self, what: str) -> None:
        each = 1000 * self.worker_cpu / self.events
        worker, simulator = (100 * cpu / self.seconds for cpu in (self.worker_cpu, self.simulator_cpu))
        print(f"  {what:<15}{self.events / self.seconds:>8.1f} a second; worker {worker:.0f}% of a core", end="")
        print(f", {each:.1f} ms for each; simulator {simulator:.0f}%; ", end="")
        print(f"memory after each tenth {', '.join(f'{one:.0f}' for one in self.memory)} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--installations", type=int, default=40)
    parser.add_argument("--database", choices=[*KINDS, "both"], default="both")
    parser.add_argument("--what", choices=["queue", "handlers", "both"], default="both")
    parser.add_argument("--worker", nargs=2, metavar=("HOME", "URL"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        idle_worker(*arguments.worker)
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    for kind in KINDS if arguments.database == "both" else (arguments.database,):
        print(f"{kind}: {arguments.events} events of {arguments.installations} installations")
        for what in ("queue", "handlers") if arguments.what == "both" else (arguments.what,):
            measure(kind, what, arguments.events, arguments.installations)


def idle_worker(home: str, url: str) -> None:
    """A worker whose handlers do nothing."""
    from bot.app.wiring.worker_process import run_worker

    def nothing(job: Job) -> None:
        """The queue alone is measured."""

    run_worker(Settings(home=Path(home), database_url=url), nothing)


def measure(kind: str, what: str, events: int, installations: int) -> None:
    """One run on one kind of database, an empty one."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(database(kind, home))
        if what == "queue":
            command = [sys.executable, __file__, "--worker", str(home), url]
            settings = load({"DOPPEL_HOME": str(home), "DATABASE_URL": url})
            fill(settings, made_up(events, installations))
            with working(command, {**os.environ, "PYTHONPATH": str(ROOT)}, home) as pid:
                drain(pid, settings, events).tell("queue alone")
            return
        server = stack.enter_context(start_simulator(webhook_secret="a-secret", validate=False))
        environ = {**environment(server, home, url), "PYTHONPATH": str(ROOT), "LOG_LEVEL": "WARNING"}
        command = [sys.executable, "-m", "bot", "worker"]
        repositories = populate(server, installations)
        settings = load(environ)
        prepare_databases(settings)
        with working(command, environ, home) as pid:
            await_index(settings, HISTORY * installations)
            fill(settings, open_issues(server, repositories, events, "events"))
            drain(pid, settings, events).tell("with handlers")


def made_up(events: int, installations: int) -> list[IssueEvent]:
    """Events of nobody."""
    ann = Actor("ann")
    return [
        IssueEvent("opened", 1 + n % installations, summary(1 + n % installations, "acme/app"), n, ann, ann)
        for n in range(events)
    ]


def populate(server: Server, installations: int) -> dict[int, Repository]:
    """Repositories with some history, one for each installation, by the installation's id."""
    repositories = {}
    for n in range(installations):
        name = f"owner{n}/app"
        record = server.sim.add_repository(name)
        server.sim.write_file(name, ".github/doppel.yml", "search: {hybrid: off}")
        repositories[server.sim.install(name).id] = summary(record.id, name)
    open_issues(server, repositories, HISTORY * installations, "history")
    return repositories


def open_issues(server: Server, repositories: dict[int, Repository], count: int, seed: str) -> list[IssueEvent]:
    """Open an issue in each repository in turn, each by another author, until there are `count`; returns the events."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(4, 9))) for _ in range(20_000)]
    events = []
    for n, (installation, repository) in zip(range(count), cycle(repositories.items())):
        title, body = " ".join(chance.choices(words, k=6)), " ".join(chance.choices(words, k=40))
        author = Actor(f"author{n}")
        number = server.sim.open_issue(str(repository.ref), author.login, title, body).number
        events.append(IssueEvent("opened", installation, repository, number, author, author))
    return events


def summary(repo_id: int, name: str) -> Repository:
    """A public repository."""
    return Repository(repo_id, RepoRef.parse(name), private=False)


def fill(settings: Settings, events: list[IssueEvent]) -> None:
    """Put events into the queue, many in a transaction."""
    engine = queue_engine(settings)
    prepare(engine)
    queue, entries = Queue(engine), [new_job(f"event-{n}", event) for n, event in enumerate(events)]
    for start in range(0, len(entries), 500):
        queue.put(entries[start : start + 500])
    engine.dispose()


@contextmanager
def working(command: list[str], environ: dict[str, str], home: Path) -> Iterator[int]:
    """A worker process; its id."""
    with (home / "worker.log").open("ab") as log:
        process = subprocess.Popen(command, env=environ, cwd=home, stdout=log, stderr=log)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(40)


def await_index(settings: Settings, issues: int) -> None:
    """Wait until the worker has read and embedded all issues, and has no step of the index left."""
    store, queue = make_engine(settings.database_url, pool_size=1), queue_engine(settings, pool_size=1)
    steps = sa.select(sa.func.count()).where(state("waiting", "running"), jobs.c.queue == BACKGROUND_QUEUE)
    began, done, left = time.monotonic(), 0, 1
    while done < issues or left:
        if time.monotonic() - began > PATIENCE_SECONDS:
            raise SystemExit(f"only {done} issues are in the index; see worker.log")
        time.sleep(0.5)
        with store.connect() as connection:
            done = connection.execute(sa.text("SELECT count(*) FROM text_vectors")).scalar_one()
        with queue.connect() as connection:
            left = connection.execute(steps).scalar_one()
    store.dispose()
    queue.dispose()
    print(f"  {'':<15}the index was filled in {time.monotonic() - began:.0f} s")


def drain(pid: int, settings: Settings, events: int) -> Drained:
    """Watch a worker until its queue is empty, from its first finished events on."""
    engine = queue_engine(settings, pool_size=1)
    left_of = sa.select(sa.func.count()).where(state("waiting", "running"), jobs.c.queue == QUEUE)

    def left() -> int:
        with engine.connect() as connection:
            count: int = connection.execute(left_of).scalar_one()
        return count

    while (first := left()) > events - 20:
        time.sleep(0.1)
    began, own, its, memory = time.monotonic(), time.process_time(), cpu_seconds(pid), [memory_mb(pid)]
    while (now := left()) > 2:
        if first - now >= len(memory) * first / SAMPLES:
            memory.append(memory_mb(pid))
        time.sleep(0.2)
    seconds, cpu = time.monotonic() - began, cpu_seconds(pid) - its
    # The simulator is a thread of this process.
    result = Drained(first - now, seconds, cpu, time.process_time() - own, [*memory, memory_mb(pid)])
    with engine.connect() as connection:
        counts = sa.select(jobs.c.state, sa.func.count()).where(jobs.c.queue == QUEUE).group_by(jobs.c.state)
        states = connection.execute(counts).all()
    print(f"  {'':<15}{', '.join(f'{count} {state}' for state, count in sorted(states))}")
    engine.dispose()
    return result


if __name__ == "__main__":
    main()
