"""A large host for a day, made small: many repositories with an index on PostgreSQL, and a day's traffic in minutes.

    .venv/bin/python -m bench.large_host [--repositories 200] [--issues 10000] [--events 400] [--minutes 4]

The index is filled directly, with made-up issues; the sizes of the repositories follow Zipf's law, five repositories to
an installation. Then issues are opened in the simulator, which delivers them to web and workers as on a real host: in
the course of a day, with three times as many in the busiest hour as in the mean, and a tenth of them reported before.
For each there is a comment of somebody's, which needs no work but has to be taken. Printed are the age at which a job
is begun (p50, p99), what each installation used of GitHub's hourly budget, and the size of the database by table. A
whole large host is `--repositories 10000 --issues 1000000 --events 6000 --minutes 60`.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import sqlalchemy as sa

from bench.hosting import cpu_seconds, database, memory_mb
from bench.index import made_up
from bot.app.demo import show as demo
from bot.app.demo.show import environment, running_bot, wait_for
from bot.app.wiring.indexes import build_index
from bot.app.wiring.worker_process import build_services, job_handler, run_worker
from bot.deliveries.database import QUEUE, jobs, queue_engine, state
from bot.domain.entities import RepoRef, Repository
from bot.platform.settings import Settings, load
from bot.search.index import IndexedIssue
from bot.simulator import Server, Simulator, start_simulator
from bot.storage import open_store
from bot.storage.repositories import Progress

REPOSITORIES_EACH = 5
OF_BEFORE = 0.1
PEAK = 3.0
BUDGET = 5_000
NOT_REACHED = 10_000
WORKER = (sys.executable, __file__, "--worker")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, default=200)
    parser.add_argument("--issues", type=int, default=10_000, help="in the index, over all repositories")
    parser.add_argument("--events", type=int, default=400, help="issues opened in the day")
    parser.add_argument("--minutes", type=float, default=4.0, help="what the day is pressed into")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return
    demo.WORKER = WORKER  # type: ignore[attr-defined,assignment]
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(database("postgres", home))
        server = stack.enter_context(start_simulator(webhook_secret="a-secret", validate=False))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before", flush=True)
        names = populate(server.sim, arguments.repositories)
        fill(server.sim, names, Settings(home=home, database_url=url), arguments.issues)
        size_of(url, arguments.issues)
        processes = stack.enter_context(running_bot(server, home, url))
        pids = [processes.supervisor.pid("web"), processes.supervisor.pid("worker")]
        pids += [stack.enter_context(worker(server, home, url)) for _ in range(arguments.workers - 1)]
        wait_for(processes, "web", processes.takes_deliveries)
        server.sim.app.hook.url, server.sim.webhooks.senders = processes.receiver, 4
        before = [cpu_seconds(pid) for pid in pids]
        began = time.monotonic()
        said = day(server.sim, names, arguments.events, arguments.minutes)
        drained = until_empty(processes.settings)
        tell(server.sim, processes.settings, said, time.monotonic() - began, drained)
        used = [cpu_seconds(pid) - start for pid, start in zip(pids, before, strict=True)]
        print(f"processor time: web {used[0]:.1f} s, workers {', '.join(f'{one:.1f} s' for one in used[1:])}; ", end="")
        print(
            f"memory: web {memory_mb(pids[0]):.0f} MB, workers {', '.join(f'{memory_mb(p):.0f}' for p in pids[1:])} MB"
        )


def work() -> None:
    """A worker as `doppel worker` is, but for what it does half-hourly: its index would find GitHub nearly empty."""
    settings = load()
    run_worker(settings, job_handler(build_services(settings)))


def populate(sim: Simulator, repositories: int) -> list[str]:
    """The repositories at the simulated GitHub, each with one issue that will be reported again."""
    names = []
    for n in range(repositories):
        name = f"owner{n // REPOSITORIES_EACH}/app{n}"
        sim.add_repository(name)
        sim.open_issue(name, "ann", f"Crash while exporting report {n}", f"It says `Error: export {n} broke the disk`.")
        names.append(name)
    for owner in dict.fromkeys(name.partition("/")[0] for name in names):
        sim.install(owner)
    return names


def fill(sim: Simulator, names: list[str], settings: Settings, issues: int) -> None:
    """The store as it is after the first reading of all repositories."""
    store = open_store(settings)
    index = build_index(settings, store)
    backfills = store.backfills
    weights = 1 / np.arange(1, len(names) + 1)
    counts = np.maximum(1, np.round(issues * weights / weights.sum())).astype(int)
    began, made = time.monotonic(), time.process_time()
    installations = {one.account.login: one.id for one in sim.installations.values()}
    for n, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        repository = sim.repository(name)
        summary = Repository(repository.id, RepoRef.parse(name), private=False)
        store.repositories.upsert(summary, installations[summary.ref.owner], time.time())
        original = sim.issue(name, 1)
        first = IndexedIssue(1, original.title, original.body or "", author="ann", created_at=1, id=original.id)
        # The others have numbers that the simulator does not reach, and no higher: a process keeps four bytes for each.
        batch = [first, *(one._replace(number=one.number + NOT_REACHED) for one in made_up(count, seed=n))]
        for start in range(0, len(batch), 2_000):
            index.put(repository.id, batch[start : start + 2_000])
        backfills.set(repository.id, Progress(done=True, seen=count, expected=count, updated_at=time.time()))
    seconds, cpu = time.monotonic() - began, time.process_time() - made
    print(f"{len(names)} repositories with {issues} issues in the index, in {seconds:.0f} s ({cpu:.0f} s of processor)")
    store.close()


def size_of(url: str, issues: int) -> None:
    """The database's size, and its largest tables."""
    engine = sa.create_engine(url)
    query = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' ORDER BY 2 DESC LIMIT 6"
    with engine.connect() as connection:
        total = connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one()
        tables = connection.execute(sa.text(query)).all()
    engine.dispose()
    print(f"database: {total / 1e6:.0f} MB, {total / issues / 1e3:.1f} kB an issue: ", end="")
    print(", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in tables), flush=True)


@contextmanager
def worker(server: Server, home: Path, url: str) -> Iterator[int]:
    """A further worker process, which knows of nothing but the database; its id."""
    own = home / f"worker-{time.monotonic_ns()}"
    own.mkdir()
    environ = {**environment(server, own, url), "LOG_LEVEL": "WARNING"}
    with (own / "log").open("wb") as log:
        process = subprocess.Popen(WORKER, env=environ, cwd=own, stdout=log, stderr=log)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(40)


def day(sim: Simulator, names: list[str], events: int, minutes: float) -> list[tuple[str, int]]:
    """Open issues as people do in the course of a day; those that were reported before, which the bot should answer."""
    chance = random.Random(3)
    weights = [1 / (n + 1) for n in range(len(names))]
    # A wave over the day; the quietest hour is what is left.
    hours = [1 + (PEAK - 1) * math.cos(2 * math.pi * (hour / 24 - 0.6)) for hour in range(24)]
    hours = [max(0.1, hour) for hour in hours]
    moments = sorted(60 * minutes * (chance.choices(range(24), hours)[0] + chance.random()) / 24 for _ in range(events))
    texts = iter(made_up(events + 1, seed=999_999))
    again, began = [], time.monotonic()
    for moment in moments:
        (name,) = chance.choices(names, weights)
        time.sleep(max(0.0, moment - (time.monotonic() - began)))
        if chance.random() < OF_BEFORE:
            n = names.index(name)
            title, body = f"Crash while exporting report {n}!", f"`Error: export {n} broke the disk`, again."
            number = sim.open_issue(name, "bob", title, body).number
            again.append((name, number))
        else:
            text = next(texts)
            number = sim.open_issue(name, "bob", text.title, text.body).number
        sim.comment(name, number, "carl", "The same here.")
    return again


def until_empty(settings: Settings) -> float:
    """Wait until no job is left; the seconds that it took."""
    engine, began = queue_engine(settings, pool_size=1), time.monotonic()
    due = (state("waiting", "running"), jobs.c.queue == QUEUE, jobs.c.attempts == 0)
    query = sa.select(sa.func.count()).where(*due)
    while time.monotonic() - began < 300:
        with engine.connect() as connection:
            if not connection.execute(query).scalar_one():
                break
        time.sleep(0.5)
    engine.dispose()
    return time.monotonic() - began


def tell(sim: Simulator, settings: Settings, again: list[tuple[str, int]], seconds: float, drained: float) -> None:
    """What the day was like."""
    engine = queue_engine(settings, pool_size=1)
    # Of one that was tried more than once the first beginning is not known.
    begun = (jobs.c.queue == QUEUE, jobs.c.started_at.is_not(None), jobs.c.attempts == 0)
    age = (jobs.c.started_at - jobs.c.arrived_at).label("age")
    query = sa.select(age, jobs.c.installation.label("owner")).where(*begun).order_by(age)
    with engine.connect() as connection:
        rows = connection.execute(query).all()
        counts = sa.select(jobs.c.state, sa.func.count()).where(jobs.c.queue == QUEUE).group_by(jobs.c.state)
        states = dict(map(tuple, connection.execute(counts).all()))
    engine.dispose()
    log = sim.webhooks.log
    quiet = {about for about in again if all(one.author != sim.app.bot for one in sim.comments(*about))}
    refused = sum(one.status_code != 202 for one in log)
    print(f"{len(log)} deliveries in {seconds:.0f} s, {refused} not taken; jobs: {states}")
    (busiest, most), *_ = Counter(row.owner for row in rows).most_common(1)
    print(f"age of a job when it is begun: {_ages([float(row.age) for row in rows])}; ", end="")
    print(f"{drained:.0f} s after the last event none was left")
    # GitHub's minutes are not pressed together with the day, and one installation has a third of it.
    print(f"  of the busiest installation ({most}): {_ages([float(row.age) for row in rows if row.owner == busiest])}")
    print(f"  of all others: {_ages([float(row.age) for row in rows if row.owner != busiest])}")
    print(f"{len(again) - len(quiet)} of {len(again)} that were reported before are answered")
    for reason, count in Counter(_why_not(sim, settings, again, quiet)).most_common():
        print(f"  of the others {count}: {reason}")
    used = [sim.limits.state(f"installation:{key}", "core")["used"] for key in sim.installations]
    used.sort(reverse=True)
    print(
        f"requests of {BUDGET} an hour: busiest installation {used[0]}, median {used[len(used) // 2]}, all {sum(used)}"
    )


def _why_not(
    sim: Simulator, settings: Settings, again: list[tuple[str, int]], quiet: set[tuple[str, int]]
) -> Iterator[str]:
    """What the bot itself noted of the issues that it did not answer."""
    store = open_store(settings)
    for name, number in quiet:
        noted = store.decisions.of_issue(sim.repository(name).id, number)
        same = 1 + sum(other == name and earlier < number for other, earlier in again)
        told = f"{noted[-1].outcome}, {noted[-1].reason}" if noted else "no look at it is noted"
        if noted and noted[-1].evidence:
            best = noted[-1].evidence[0].probability
            told += f", the best candidate {'below' if best < noted[-1].threshold else 'above'} the threshold"
        yield f"{told}; {'1 to 3' if same < 4 else '4 or more'} of the very same words were there"
    store.close()


def _ages(ages: list[float]) -> str:
    """Two percentiles of a sorted list of seconds."""
    p50, p99 = (ages[min(len(ages) - 1, len(ages) * percent // 100)] for percent in (50, 99))
    return f"p50 {p50:.2f} s, p99 {p99:.2f} s"


if __name__ == "__main__":
    main()
