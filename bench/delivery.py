"""How long it takes from an opened issue to the bot's comment, with web and worker as processes of their own.

    .venv/bin/python bench/delivery.py [--reports 20]

The simulator answers at once, so this is the bot's own part: receiving, queueing, waking a worker, asking, ranking,
posting. The baseline is the receiver's answer to the same delivery, 202 after it was committed to the queue. The first
report meets processes that are still starting and is told apart. Wall-clock time: what else the machine does is in it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.app.demo.show import running_bot, wait_for
from bot.simulator import Simulator, start_simulator

REPOSITORY = "acme/app"
TOPICS = ("exporting to PDF", "uploading a video", "renaming an album", "rotating a photo", "sharing by mail")
PATIENCE_SECONDS = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=20)
    reports = parser.parse_args().reports
    taken, commented = [], []
    with (
        tempfile.TemporaryDirectory() as home,
        start_simulator(webhook_secret="a-secret") as server,
        running_bot(server, Path(home)) as processes,
    ):
        sim = server.sim
        sim.add_repository(REPOSITORY)
        # Real searches are paced, 30 a minute, which is not what is measured here.
        sim.write_file(REPOSITORY, ".github/doppel.yml", "search: {budget: 1, hybrid: off}")
        sim.install(REPOSITORY)
        for topic in TOPICS:
            sim.open_issue(REPOSITORY, "ann", f"Crash while {topic}", f"It says `Error: {topic} broke`.")
        wait_for(processes, "web", processes.takes_deliveries)
        sim.app.hook.url = processes.receiver
        for n in range(reports + 1):
            topic = TOPICS[n % len(TOPICS)]
            began = time.monotonic()
            title, body = f"Crash while {topic}!", f"`Error: {topic} broke`, again."
            number = sim.open_issue(REPOSITORY, f"user{n}", title, body).number
            taken.append(_until(lambda number=number: _taken(sim, number)) - began)  # type: ignore[misc]
            commented.append(_until(lambda number=number: _said(sim, number)) - began)  # type: ignore[misc]
    rows = (("202 from the receiver", taken), ("comment on the issue", commented))
    for name, (first, *seconds) in rows:
        print(f"{name:24} first {1_000 * first:7.1f} ms, while the worker starts")
        ms = sorted(1_000 * one for one in seconds)
        print(f"{name:24} p50 {statistics.median(ms):7.1f} ms   p95 {ms[int(0.95 * len(ms))]:7.1f} ms")
    print(f"{'ratio of the medians':24} {statistics.median(commented) / statistics.median(taken):7.1f}")


def _taken(sim: Simulator, number: int) -> bool:
    return any(
        one.event == "issues" and one.payload["issue"]["number"] == number and one.status_code == 202
        for one in sim.webhooks.log
    )


def _said(sim: Simulator, number: int) -> bool:
    return any(one.author == sim.app.bot for one in sim.comments(REPOSITORY, number))


def _until(happened: Callable[[], bool]) -> float:
    """The moment at which it has happened, by the monotonic clock."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        if time.monotonic() > end:
            raise SystemExit(f"it did not happen within {PATIENCE_SECONDS:.0f} s")
        time.sleep(0.002)
    return time.monotonic()


if __name__ == "__main__":
    main()
