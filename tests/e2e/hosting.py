"""The bot as its hosts run it: gunicorn, worker and simulator as they are, over real sockets. One wait is shorter."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app.demo import show as demo
from bot.app.demo.show import BotProcesses, running_bot, wait_for
from bot.simulator import Server, Simulator, start_simulator
from tests.e2e.harness import BOT
from tests.waiting import LONGEST, wait_until

TOPICS = (
    "exporting to PDF",
    "uploading a video",
    "renaming an album",
    "rotating a photo",
    "sharing by mail",
    "syncing contacts",
)


# Seconds that a write without an answer is waited for, in place of 35, and a killed worker's job, in place of 30: more
# than the worker's restart takes.
LEASE = 6.0
WORKER = (sys.executable, str(Path(__file__).with_name("worker_process.py")), str(LEASE))


@dataclass
class Host:
    """Somebody who runs the bot, restarts what dies and redelivers what was not taken."""

    server: Server
    processes: BotProcesses

    @property
    def sim(self) -> Simulator:
        return self.server.sim

    def kill(self, name: str) -> None:
        """SIGKILL, and the supervisor's restart. Web is back only when the port is free and it takes deliveries."""
        killed = self.processes.supervisor.pid(name)
        os.kill(killed, signal.SIGKILL)
        self.wait(f"a new {name}", lambda: self.processes.supervisor.pid(name) != killed)
        if name == "web":
            self.wait("web's restart", self.processes.takes_deliveries)

    def wait(self, what: str, happened: Callable[[], bool]) -> None:
        def checked() -> bool:
            self.processes.check()
            return happened()

        try:
            wait_until(checked, what, every=0.05)
        except AssertionError as late:
            late.add_note(self._told())
            raise

    def _told(self) -> str:
        """What there is to see of a host that stands still: which deliveries it took, and what it wrote last."""
        answers = [f"{one.guid} {one.event} {one.status_code} {one.response_body}" for one in self.sim.webhooks.log]
        log = (self.processes.settings.home / demo.LOG).read_text("utf-8", "replace").splitlines()
        return "\n".join(("Its deliveries:", *answers[-20:], "What web and worker wrote last:", *log[-60:]))

    def redeliver(self) -> None:
        """Ask for every delivery again that has not been taken, as GitHub's log shows them, until all are."""

        def all_taken() -> bool:
            self.sim.webhooks.join(LONGEST)
            taken = {delivery.guid for delivery in self.sim.webhooks.log if delivery.status_code == 202}
            missing = {delivery.guid: delivery for delivery in self.sim.webhooks.log if delivery.guid not in taken}
            if missing and self.processes.takes_deliveries():
                for delivery in missing.values():
                    self.sim.webhooks.redeliver(delivery)
            return not missing

        self.wait("taking all deliveries", all_taken)

    def finish(self) -> None:
        """Every delivery has been taken and worked on."""
        self.redeliver()
        queued = {
            delivery.guid
            for delivery in self.sim.webhooks.log
            if delivery.status_code == 202 and '"queued"' in delivery.response_body
        }
        self.wait("working on all deliveries", lambda: all(map(self.processes.done, queued)))

    def report(self, topic: str) -> int:
        """Somebody reports a topic again; returns the issue's number."""
        title, body = f"Crash while {topic}!", f"`Error: {topic} broke`, again."
        return self.sim.open_issue("acme/app", "bob", title, body).number

    def said(self, number: int) -> list[str]:
        return [one.body for one in self.sim.comments("acme/app", number) if one.author.login == BOT]


@contextmanager
def hosted(home: Path) -> Iterator[Host]:
    """Start everything on an empty data directory, with a repository in which each of TOPICS was reported once."""
    with pytest.MonkeyPatch.context() as patch, start_simulator(webhook_secret="a-secret") as server:
        patch.setattr(demo, "WORKER", WORKER)
        with running_bot(server, home) as processes:
            server.sim.add_repository("acme/app")
            # A killed worker's searches are made again, which would use up what GitHub allows in a minute.
            server.sim.write_file("acme/app", ".github/doppel.yml", "search: {budget: 1, hybrid: off}")
            server.sim.install("acme/app")
            for topic in TOPICS:
                server.sim.open_issue("acme/app", "ann", f"Crash while {topic}", f"It says `Error: {topic} broke`.")
            wait_for(processes, "web", processes.takes_deliveries)
            server.sim.app.hook.url = processes.receiver
            yield Host(server, processes)
            assert server.sim.unknown_requests == []
