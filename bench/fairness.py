"""Whether an installation that sends very much keeps another waiting: through the front door, with GitHub's limits.

    .venv/bin/python -m bench.fairness [--noisy 5000] [--quiet 10] [--database sqlite|postgres|both]

One installation opens 5,000 issues. When all of their deliveries are in the queue, another one opens 10 and waits for
the bot's comments, and so does another repository of the first installation, which shares its limits. Web and one
worker run as processes with default settings against the simulator, which allows each installation 30 searches and 10
semantic searches a minute, as GitHub does: the noisy one's jobs wait for them most of the time. It exits with 1 unless
the ten of the other installation are answered within 5 s, and the sibling's within 10. The noisy one's backlog is not
waited for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sqlalchemy as sa

from bench.hosting import KINDS, database
from bot.app.demo.show import BotProcesses, running_bot, wait_for
from bot.deliveries.database import QUEUE, jobs, queue_engine, state
from bot.simulator import Simulator, start_simulator

NOISY, SIBLING, QUIET = "noisy/app", "noisy/other", "quiet/app"
WITHIN_SECONDS = {QUIET: 5.0, SIBLING: 10.0}
PATIENCE_SECONDS = 120.0
TOPICS = ("exporting to PDF", "uploading a video", "renaming an album", "rotating a photo", "sharing by mail")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noisy", type=int, default=5_000, help="how many issues the one installation opens")
    parser.add_argument("--quiet", type=int, default=10, help="how many the other")
    parser.add_argument("--database", choices=[*KINDS, "both"], default="both")
    arguments = parser.parse_args()
    kinds = KINDS if arguments.database == "both" else (arguments.database,)
    results = [measure(kind, arguments.noisy, arguments.quiet) for kind in kinds]
    return 0 if all(results) else 1


def measure(kind: str, noisy: int, quiet: int) -> bool:
    """One run on one kind of database; whether all were answered in time."""
    with (
        tempfile.TemporaryDirectory() as home,
        database(kind, Path(home)) as url,
        start_simulator(webhook_secret="a-secret", validate=False) as server,
        running_bot(server, Path(home), url) as processes,
    ):
        sim = server.sim
        for repository in (NOISY, SIBLING, QUIET):
            sim.add_repository(repository)
            for topic in TOPICS:
                sim.open_issue(repository, "ann", f"Crash while {topic}", f"It says `Error: {topic} broke`.")
        for owner in ("noisy", "quiet"):
            sim.install(owner)
        wait_for(processes, "web", processes.takes_deliveries)
        sim.app.hook.url, sim.webhooks.senders = processes.receiver, 8
        began = time.monotonic()
        report(sim, NOISY, noisy)
        sim.webhooks.join(600)
        taken = time.monotonic() - began
        waiting = left(processes)
        began = time.monotonic()
        open_ones = {(name, number) for name in (QUIET, SIBLING) for number in report(sim, name, quiet)}
        times: dict[str, list[float]] = {QUIET: [], SIBLING: []}
        while open_ones and time.monotonic() - began < PATIENCE_SECONDS:
            for about in sorted(open_ones):
                if answered(sim, *about):
                    open_ones.discard(about)
                    times[about[0]].append(time.monotonic() - began)
            time.sleep(0.05)
        refused = sum(one.status_code != 202 for one in sim.webhooks.log)
        print(f"{kind}: {noisy} deliveries taken in {taken:.1f} s, {refused} not; {waiting} of their jobs wait")
        for name, whose in ((QUIET, "the other installation"), (SIBLING, "the noisy one's other repository")):
            print(f"  of {quiet} of {whose} {len(times[name])} are answered", end="")
            print(f", after {times[name][0]:.1f} to {times[name][-1]:.1f} s" if times[name] else "")
        print(f"  of all {left(processes)} still wait", flush=True)
        return all(len(times[name]) == quiet and times[name][-1] <= most for name, most in WITHIN_SECONDS.items())


def report(sim: Simulator, repository: str, count: int) -> list[int]:
    """Somebody opens so many issues, each about something that was reported before; their numbers."""
    numbers = []
    for n in range(count):
        topic = TOPICS[n % len(TOPICS)]
        title, body = f"Crash while {topic}!", f"`Error: {topic} broke`, again."
        numbers.append(sim.open_issue(repository, f"user{n % 50}", title, body).number)
    return numbers


def answered(sim: Simulator, repository: str, number: int) -> bool:
    """Whether the bot has commented."""
    return any(one.author == sim.app.bot for one in sim.comments(repository, number))


def left(processes: BotProcesses) -> int:
    """How many jobs are not done."""
    engine = queue_engine(processes.settings, pool_size=1)
    query = sa.select(sa.func.count()).where(state("waiting", "running"), jobs.c.queue == QUEUE)
    with engine.connect() as connection:
        count: int = connection.execute(query).scalar_one()
    engine.dispose()
    return count


if __name__ == "__main__":
    sys.exit(main())
