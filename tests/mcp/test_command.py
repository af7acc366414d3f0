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

import anyio
import pytest
import requests
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bot.app.cli import main
from bot.simulator import Server
from tests.calling import free_port
from tests.mcp.conftest import answer
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


def test_a_client_starts_it_and_calls_it(environment: dict[str, str], tmp_path: Path) -> None:
    async def use() -> None:
        with (tmp_path / "stderr").open("w") as log:
            parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment, cwd=str(tmp_path))
            async with Client(stdio_client(parameters, errlog=log)) as client:
                for cached in (False, True):
                    found = answer(await client.call_tool("find_duplicates", {"number": 3}))
                    assert [one["number"] for one in found["candidates"]] == [1]
                    assert found["cached"] is cached

    anyio.run(use)


def test_stdout_has_nothing_but_the_protocol(environment: dict[str, str], tmp_path: Path) -> None:
    """Logs go to stderr, at the chattiest level too, and neither holds the token."""
    messages: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "explain_pair", "arguments": {}}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "find_duplicates", "arguments": {"number": 3}},
        },
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
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest, err = process.stdout.read(), process.stderr.read()
    assert [one["id"] for one in answers] == [1, 2, 3]
    assert (rest, process.returncode) == ("", 0)
    assert "an agent asks for tools/call" in err
    assert environment["GITHUB_TOKEN"] not in err


def test_http_does_not_start_without_a_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOPPEL_MCP_TOKEN", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "--http"])
    assert ended.value.code == 2
    assert "DOPPEL_MCP_TOKEN" in capsys.readouterr().err


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
