"""`doppel mcp` as clients start it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.simulator import Server
from tests.calling import call, free_port
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.processes

COMMAND = [sys.executable, "-m", "bot", "mcp"]


@pytest.fixture
def environment(simulator: Server, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "HOME": str(tmp_path),
        "GITHUB_API_URL": simulator.url,
        "GITHUB_TOKEN": simulator.sim.user_token("rita"),
        "DOPPEL_REPOSITORY": "acme/app",
        "LOG_LEVEL": "DEBUG",
    }


def test_stdout_has_nothing_but_the_protocol(environment: dict[str, str], tmp_path: Path) -> None:
    """Logs go to stderr, at the chattiest level too, and neither holds the token."""
    client = {"clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}} | client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "explain_pair", "arguments": {}}},
        {"id": 3, "method": "tools/call", "params": {"name": "find_duplicates", "arguments": {"number": 3}}},
    ]
    with subprocess.Popen(
        COMMAND,
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        answers = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest, err = process.stdout.read(), process.stderr.read()
    assert [one["id"] for one in answers] == [1, 2, 3]
    found = answers[2]["result"]["structuredContent"]["candidates"]
    assert [one["number"] for one in found] == [1]
    assert (rest, process.returncode) == ("", 0)
    assert environment["GITHUB_TOKEN"] not in err


def test_http_does_not_start_without_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOPPEL_MCP_TOKEN", raising=False)
    ended = call("mcp", "--http")
    assert ended.exit_code == 2 and "DOPPEL_MCP_TOKEN" in ended.stderr


def test_http_says_where_it_is(environment: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "mcp", "--http", "--port", str(port)],
        cwd=tmp_path,
        env={**environment, "DOPPEL_MCP_TOKEN": "a-long-random-token", "LOG_LEVEL": "INFO"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert _status(f"http://127.0.0.1:{port}/mcp") == 401
        finally:
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=LONGEST)
    assert told.splitlines()[0] == f"Agents reach Doppel at http://127.0.0.1:{port}/mcp"
    assert "Traceback" not in told


def _status(url: str) -> int:
    """What a request without a token is answered with, as soon as anybody answers."""
    answers: list[int] = []

    def answered() -> bool:
        with contextlib.suppress(requests.ConnectionError):
            answers.append(requests.post(url, timeout=LONGEST).status_code)
        return bool(answers)

    wait_until(answered, every=0.1)
    return answers[0]
