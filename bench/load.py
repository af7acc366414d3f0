"""Doppel's receiver beside apps of two other frameworks that do the same: verify a delivery, keep it, answer.

    .venv/bin/python -m bench.load [--rounds 3] [--deliveries 3000] [--connections 16] [--postgres]

A Probot app (bench/probot, with npm's packages in its node_modules), an aiohttp app with gidgethub
(bench/gidgethub_app.py) and Doppel as `Procfile` starts it: two processes each, SQLite in WAL mode, synchronous=FULL
for all: what has been answered survives a power failure. Deliveries of 10 kB with unique ids, signed beforehand, come
over keep-alive connections from a process of its own, to one app after the other, round by round. At the end the rows
are counted: each delivery that was taken must have one. What is missing is installed at the first run.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.hosting import cpu_seconds, database, memory_mb
from bench.receiver import SECRET, Result
from bot.platform.local import free_port
from bot.simulator.keys import shared_pair

HERE = Path(__file__).parent
ROOT = HERE.parent
PROCESSES = "2"
READY_WITHIN_SECONDS = 60.0


@dataclass
class App:
    """One of the three: how it is started, and where it keeps what it took."""

    name: str
    command: Sequence[str]
    environ: dict[str, str]
    count: tuple[Path, str]
    port: int
    process: subprocess.Popen[bytes] | None = None
    results: list[Result] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def taken(self) -> int:
        """How many deliveries it said it took."""
        return sum(one.statuses.get(status, 0) for one in self.results for status in ("200", "202"))

    @property
    def rate(self) -> float:
        """Deliveries a second, the median of the rounds."""
        return statistics.median(result.rate for result in self.results)

    def latency(self, percent: int) -> float:
        """Seconds within which so many of a hundred deliveries were answered, the median of the rounds."""
        return statistics.median(result.percentile(percent) for result in self.results)

    def kept(self) -> int:
        """How many deliveries are in its database."""
        database, table = self.count
        with sqlite3.connect(database) as connection:
            rows: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return rows


def apps(home: Path) -> list[App]:
    """The three, not started."""
    ports = [free_port() for _ in range(3)]
    key = home / "key.pem"
    key.write_text(shared_pair().private)
    ours = {
        "DOPPEL_HOME": str(home),
        "WEBHOOK_SECRET": SECRET,
        "PORT": str(ports[0]),
        "WEB_CONCURRENCY": PROCESSES,
        "LOG_LEVEL": "WARNING",
        "DOPPEL_SQLITE_SYNC": "full",
    }
    gunicorn = [sys.executable, "-m", "gunicorn", "-c", "python:bot.gunicorn_conf", "bot.web:create_app()"]
    probot = ["node", str(HERE / "probot" / "app.mjs"), str(ports[1]), str(home / "probot.db"), SECRET, str(key)]
    gidgethub = [sys.executable, str(HERE / "gidgethub_app.py"), str(ports[2]), str(home / "gidgethub.db"), SECRET]
    return [
        App("Doppel", gunicorn, ours, (home / "doppel-queue.db", "jobs"), ports[0]),
        App("Probot", [*probot, PROCESSES], {}, (home / "probot.db", "deliveries"), ports[1]),
        App("gidgethub", [*gidgethub, PROCESSES], {}, (home / "gidgethub.db", "deliveries"), ports[2]),
    ]


def install() -> None:
    """What the other two need: npm's packages in bench/probot/node_modules, the extra `bench` in this environment."""
    if not (HERE / "probot" / "node_modules" / "probot").exists():
        command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=HERE / "probot", check=True)
    if not (importlib.util.find_spec("gidgethub") and importlib.util.find_spec("aiohttp")):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[bench]"], check=True)


@contextmanager
def started(app: App, home: Path) -> Iterator[None]:
    """The app for the length of a block, ready."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home), **app.environ}
    app.process = subprocess.Popen(list(app.command), cwd=home, env=environ, start_new_session=True)
    try:
        end = time.monotonic() + READY_WITHIN_SECONDS
        while not _is_ready(app.port):
            if time.monotonic() > end or app.process.poll() is not None:
                raise SystemExit(f"{app.name} did not become ready")
            time.sleep(0.1)
        yield
    finally:
        # Not every one ends its own processes.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(app.process.pid, signal.SIGTERM)
        app.process.wait(30)


def ask(app: App, deliveries: int, connections: int) -> None:
    """One round: deliver to an app, from a process of its own."""
    assert app.process is not None
    before = cpu_seconds(app.process.pid)
    command = [sys.executable, str(HERE / "receiver.py"), "--client", "--path", "/webhook", "--port", str(app.port)]
    command += ["--deliveries", str(deliveries), "--connections", str(connections)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE).stdout
    app.results.append(Result(**json.loads(answer)))
    app.cpu += cpu_seconds(app.process.pid) - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deliveries", type=int, default=3_000, help="in each round, to each app")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--postgres", action="store_true", help="Doppel alone, on PostgreSQL")
    arguments = parser.parse_args()
    if arguments.postgres:
        return on_postgres(arguments.rounds, arguments.deliveries, arguments.connections)
    install()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        three = apps(Path(directory))
        for app in three:
            stack.enter_context(started(app, Path(directory)))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; {arguments.connections} connections")
        for _ in range(arguments.rounds):
            for app in three:
                ask(app, arguments.deliveries, arguments.connections)
        print(f"{'':<10}{'per second':>11}{'p50 ms':>8}{'p99 ms':>8}{'cpu ms':>8}{'MB':>6}  answers, and kept")
        for app in three:
            _print(app)
        kept_all = all(app.kept() == app.taken for app in three)
    ours = three[0]
    for app in three[1:]:
        print(
            f"Doppel : {app.name} = {ours.rate / app.rate:.2f} (deliveries a second, medians of the rounds), ", end=""
        )
        print(f"{ours.latency(99) / app.latency(99):.2f} (p99)")
    return 0 if kept_all else 1


def on_postgres(rounds: int, deliveries: int, connections: int) -> int:
    """Doppel alone, on a PostgreSQL server with its usual durability."""
    with tempfile.TemporaryDirectory() as directory, database("postgres", Path(directory)) as url:
        app = apps(Path(directory))[0]
        app.environ["DATABASE_URL"] = url
        with started(app, Path(directory)):
            for _ in range(rounds):
                ask(app, deliveries, connections)
    p99 = 1000 * app.latency(99)
    print(f"Doppel on PostgreSQL: {app.rate:.0f} deliveries a second, p99 {p99:.0f} ms, {app.taken} taken")
    return 0


def _print(app: App) -> None:
    assert app.process is not None
    latencies = [app.latency(percent) for percent in (50, 99)]
    cpu = 1000 * app.cpu / sum(len(one.latencies) for one in app.results)
    print(f"{app.name:<10}{app.rate:>11.0f}" + "".join(f"{1000 * one:>8.1f}" for one in latencies), end="")
    print(f"{cpu:>8.2f}{memory_mb(app.process.pid):>6.0f}  {app.taken} taken, {app.kept()} kept")


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
