"""`doppel serve`: refuses what cannot work at once, and runs the whole bot with one command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import requests

from bot.simulator import Server, start_simulator
from tests.calling import call, free_port
from tests.waiting import LONGEST, wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def simulator() -> Iterator[Server]:
    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        server.sim.install("acme/app")
        yield server


@pytest.fixture
def environ(simulator: Server, tmp_path: Path) -> dict[str, str]:
    return {
        "APP_ID": str(simulator.app_id),
        "PRIVATE_KEY": simulator.private_key_pem,
        "WEBHOOK_SECRET": simulator.webhook_secret,
        "GITHUB_API_URL": simulator.url,
        "DOPPEL_HOME": str(tmp_path / "home"),
    }


def counted(port: int, series: str) -> float:
    page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=LONGEST).text
    return next(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(series))


def posted_one(port: int) -> bool:
    return counted(port, 'doppel_comments_total{what="posted"}') == 1


@dataclass
class Serving:
    """A `doppel serve` in a process of its own, and what it has said until it ended."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def says(self, words: str) -> bool:
        """Read on until a line has the words."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if words in line:
                return True
        return False


@contextmanager
def serving(port: int, environ: dict[str, str], folder: Path) -> Iterator[Serving]:
    """Ends it with SIGTERM."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--host", "127.0.0.1", "--port", str(port)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Serving(process)
    try:
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=LONGEST)
        served.lines += rest.splitlines(keepends=True)
    assert process.returncode == 0, "".join(served.lines)


@pytest.mark.parametrize(
    ("host", "says", "silent"),
    [
        ("127.0.0.1", "cannot listen on 127.0.0.1:{port}: another program listens there", "--host"),
        # There is no program to end, nor would another port help.
        ("192.0.2.1", "cannot listen on 192.0.2.1:{port}", "program"),
    ],
)
def test_an_address_where_it_cannot_listen_is_said_before_anything_starts(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, says: str, silent: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = call("serve", "--host", host, "--port", str(port), env=environ)
    assert ended.exit_code == 2
    assert says.format(port=port) in ended.stderr and silent not in ended.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.processes
def test_one_command_serves_and_ends_when_it_is_asked_to(
    simulator: Server, environ: dict[str, str], tmp_path: Path
) -> None:
    port, metrics_port = free_port(), free_port()
    # A channel that is away keeps nothing from working, and no proxy is asked for the way to this machine.
    away = {"WEBHOOK_PROXY_URL": "https://127.0.0.1:9/channel", "http_proxy": "http://127.0.0.1:9"}
    with serving(port, environ | away | {"DOPPEL_METRICS_PORT": str(metrics_port)}, tmp_path) as served:
        assert served.says("GitHub delivers")
        assert served.lines[-1] == f"GitHub delivers to http://127.0.0.1:{port}/webhook\n"
        for author in ("ann", "bob"):
            issue = simulator.sim.open_issue("acme/app", author, "Crash while exporting", "It says `ExportError: 7`.")
        wait_until(lambda: simulator.sim.comments("acme/app", issue.number), "saying something on the second report")
        for address in (port, metrics_port):
            # What web and worker have counted, whichever is asked.
            wait_until(partial(posted_one, address))
            assert counted(address, 'doppel_deliveries_total{outcome="accepted"}') >= 2
    said = "".join(served.lines)
    assert "(issues): queued" in said
    assert "the channel does not answer: ConnectError" in said


@pytest.mark.processes
def test_who_ends_it_while_it_starts_ends_it_as_properly(
    simulator: Server, environ: dict[str, str], tmp_path: Path
) -> None:
    """SIGTERM left what it had started to itself, and both had an exit code of failure."""
    # GitHub is away just when it is to be told the address, which is tried again for a while.
    simulator.sim.faults.add("PATCH /app/hook/config", 503, times=None)
    port = free_port()
    with serving(port, environ, tmp_path) as served:
        assert served.says("Doppel takes deliveries")
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.processes
def test_where_log_lines_are_objects_everything_that_is_said_is_one(tmp_path: Path) -> None:
    environ = {"DOPPEL_HOME": str(tmp_path / "home"), "DOPPEL_LOG_FORMAT": "json"}
    with serving(free_port(), environ, tmp_path) as served:
        assert served.says("/setup?token=")
    said = [json.loads(line)["message"] for line in served.lines]
    assert "No GitHub App is set up yet. To create one, open" in said
