"""`doppel serve`: refuses what cannot work at once, and runs the whole bot with one command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import requests

from bot.app.cli import main
from bot.simulator import Server, start_simulator
from tests.calling import free_port
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


def counted(port: str, series: str) -> float:
    page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=LONGEST).text
    return next(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(series))


def posted_one(port: str) -> bool:
    return counted(port, 'doppel_comments_total{what="posted"}') == 1


def test_a_port_that_is_taken_is_said_before_anything_starts(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        port = taken.getsockname()[1]
        main(["serve", "--host", "127.0.0.1", "--port", str(port)])
    assert ended.value.code == 2
    assert f"cannot listen on 127.0.0.1:{port}: another program listens there" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_an_address_that_is_not_this_machines_is_said(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--host", "192.0.2.1"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "PORT, DOPPEL_HOST: cannot listen on 192.0.2.1:3000" in said
    # There is no program to end, nor would another port help.
    assert "DOPPEL_HOST or --host" in said and "program" not in said


@pytest.mark.processes
def test_one_command_serves_and_ends_when_it_is_asked_to(
    simulator: Server, environ: dict[str, str], tmp_path: Path
) -> None:
    port, metrics_port = str(free_port()), str(free_port())
    # A channel that is away keeps nothing from working, and no proxy is asked for the way to this machine.
    nowhere, proxy = "https://127.0.0.1:9/channel", "http://127.0.0.1:9"
    serving = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--host", "127.0.0.1", "--port", port],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "WEBHOOK_PROXY_URL": nowhere,
            "http_proxy": proxy,
            "DOPPEL_METRICS_PORT": metrics_port,
            **environ,
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stderr is not None
        before = []
        for line in serving.stderr:
            before.append(line)
            if line.startswith("GitHub delivers"):
                break
        assert before[-1] == f"GitHub delivers to http://127.0.0.1:{port}/webhook\n"
        for author in ("ann", "bob"):
            issue = simulator.sim.open_issue("acme/app", author, "Crash while exporting", "It says `ExportError: 7`.")
        wait_until(lambda: simulator.sim.comments("acme/app", issue.number), "saying something on the second report")
        for address in (port, metrics_port):
            # What web and worker have counted, whichever is asked.
            wait_until(partial(posted_one, address))
            assert counted(address, 'doppel_deliveries_total{outcome="accepted"}') >= 2
    finally:
        serving.send_signal(signal.SIGTERM)
        _, rest = serving.communicate(timeout=LONGEST)
    assert serving.returncode == 0
    assert "(issues): queued" in rest
    assert "the channel does not answer: ConnectError" in "".join(before) + rest


@pytest.mark.processes
def test_who_ends_it_while_it_starts_ends_it_as_properly(
    simulator: Server, environ: dict[str, str], tmp_path: Path
) -> None:
    """SIGTERM left what it had started to itself, and both had an exit code of failure."""
    # GitHub is away just when it is to be told the address, which is tried again for a while.
    simulator.sim.faults.add("PATCH /app/hook/config", 503, times=None)
    port = str(free_port())
    serving = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--host", "127.0.0.1", "--port", port],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stderr is not None
        assert any("Doppel takes deliveries" in line for line in serving.stderr)
    finally:
        serving.send_signal(signal.SIGTERM)
        _, rest = serving.communicate(timeout=LONGEST)
    assert serving.returncode == 0, rest
    socket.create_server(("127.0.0.1", int(port))).close()


@pytest.mark.processes
def test_where_log_lines_are_objects_everything_that_is_said_is_one(tmp_path: Path) -> None:
    port = str(free_port())
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "DOPPEL_HOME": str(tmp_path / "home")}
    serving = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--host", "127.0.0.1", "--port", port],
        cwd=tmp_path,
        env=environ | {"DOPPEL_LOG_FORMAT": "json"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stderr is not None
        lines = []
        for line in serving.stderr:
            lines.append(line)
            if "/setup?token=" in line:
                break
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=LONGEST)
    said = [json.loads(line)["message"] for line in lines]
    assert "No GitHub App is set up yet. To create one, open" in said
