"""Web and worker are killed in the middle of their work: nothing is lost, and nothing is doubled."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.demo.processes import Processes, running, wait_for
from bot.simulator import Server, Simulator, start_simulator
from tests.e2e.harness import BOT, SPEAKS_EASILY

pytestmark = pytest.mark.processes

TOPICS = (
    "exporting to PDF",
    "uploading a video",
    "renaming an album",
    "rotating a photo",
    "sharing by mail",
    "the map",
)


@dataclass
class Host:
    """Somebody who runs the bot, restarts what dies and redelivers what was not taken."""

    server: Server
    processes: Processes

    @property
    def sim(self) -> Simulator:
        return self.server.sim

    def kill(self, name: str) -> None:
        """SIGKILL, and the supervisor's restart."""
        os.kill(self.processes.pid(name), signal.SIGKILL)
        time.sleep(0.05)
        self.processes.check()

    def wait(self, what: str, happened: Callable[[], bool], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, f"{what} did not happen in time"
            self.processes.check()
            time.sleep(0.05)

    def redeliver(self) -> None:
        """Ask for every delivery again that has not been taken, as GitHub's log shows them, until all are."""

        def all_taken() -> bool:
            self.sim.webhooks.join(30)
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

    def said(self, number: int) -> list[str]:
        return [one.body for one in self.sim.comments("acme/app", number) if one.author.login == BOT]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with start_simulator(webhook_secret="a-secret") as server, running(server, tmp_path) as processes:
        server.sim.add_repository("acme/app")
        server.sim.write_file("acme/app", ".github/doppel.yml", SPEAKS_EASILY)
        server.sim.install("acme/app")
        for topic in TOPICS:
            server.sim.open_issue("acme/app", "ann", f"Crash while {topic}", f"It says `Error: {topic} broke`.")
        wait_for(processes, "web", processes.takes_deliveries)
        server.sim.app.hook.url = processes.receiver
        yield Host(server, processes)
        assert server.sim.unknown_requests == []


def test_nothing_is_lost_or_doubled_when_web_and_worker_are_killed(host: Host) -> None:
    for round_, topic in enumerate(TOPICS):
        issue = host.sim.open_issue("acme/app", "bob", f"Crash while {topic}!", f"`Error: {topic} broke`, again.")
        host.sim.comment("acme/app", issue.number, "bob", "/duplicates help")
        # At another moment of the work each time.
        time.sleep(0.03 * round_)
        host.kill("worker" if round_ % 2 == 0 else "web")
    host.finish()
    for number in range(len(TOPICS) + 1, 2 * len(TOPICS) + 1):
        kinds = [body.partition(" v1")[0] for body in host.said(number)]
        assert sorted(kinds) == ["<!-- doppel:advice", "<!-- doppel:reply"], f"#{number}"


def test_a_worker_killed_between_posting_and_noting_it_posts_no_second_comment(host: Host) -> None:
    fault = host.sim.faults.add("POST /repos/*/comments", "timeout_after_write", seconds=8)
    issue = host.sim.open_issue("acme/app", "bob", f"Crash while {TOPICS[0]}!", f"`Error: {TOPICS[0]} broke`, again.")
    host.wait("posting", lambda: fault.hits == 1 and len(host.said(issue.number)) == 1)
    host.kill("worker")
    host.finish()
    assert len(host.said(issue.number)) == 1


def test_a_delivery_that_is_answered_by_nobody_is_taken_when_it_comes_again(host: Host) -> None:
    host.kill("web")
    issue = host.sim.open_issue("acme/app", "bob", f"Crash while {TOPICS[0]}!", f"`Error: {TOPICS[0]} broke`, again.")
    host.finish()
    assert len(host.said(issue.number)) == 1
