"""E3: `doppel simulator` as a process of its own."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import jwt
import pytest
from click.testing import CliRunner

from bot.app.cli import main
from bot.app.cli.simulator import simulator
from bot.domain.errors import UserError
from tests.simulator.conftest import Api
from tests.waiting import LONGEST


@pytest.mark.processes
def test_e3_a_simulator_for_any_client(tmp_path: Path) -> None:
    issues, env = tmp_path / "issues.jsonl", tmp_path / "with space.env"
    issues.write_text(json.dumps({"id": 1, "title": "It crashes", "body": "", "created_at": "2020-01-01T00:00:00Z"}))
    command = [
        sys.executable,
        "-c",
        "from bot.app.cli import main; main()",
        "simulator",
        "--issues",
        str(issues),
        "--repo",
        "octo/tool",
    ]
    process = subprocess.Popen(
        [*command, "--write-env", str(env), "--user-limits", "off"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        said, values = process.stdout.readline(), _sourced(env)
        url = values["GITHUB_API_URL"]
        assert said == f"{url} is a simulated GitHub that has octo/tool with 1 issue; Ctrl-C ends it.\n"
        assert stat.S_IMODE(env.stat().st_mode) == 0o600
        key = Path(values["PRIVATE_KEY_PATH"])
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        now = int(time.time())
        token = jwt.encode({"iss": values["APP_ID"], "iat": now, "exp": now + 60}, key.read_text(), "RS256")
        app = Api(values["GITHUB_API_URL"], token)
        assert app.get("/repos/octo/tool/installation").status_code == 200
        assert app.get("/app/hook/config").json()["url"] == ""
        assert values["WEBHOOK_SECRET"]
        for role in ("READ", "TRIAGE", "MAINTAIN", "ADMIN"):
            person = Api(app.url, values[f"SIM_TOKEN_{role}"])
            can = person.get("/repos/octo/tool").json()["permissions"]
            assert can[{"READ": "pull"}.get(role, role.lower())]
        search = {"q": "repo:octo/tool is:issue crashes"}
        reader = Api(app.url, values["SIM_TOKEN_READ"])
        assert {reader.get("/search/issues", params=search).status_code for _ in range(35)} == {200}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LONGEST) == 0
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize("command", ["simulator", "serve"])
@pytest.mark.parametrize("wrong", ["localhost:8000", "http:///webhook", "http://127.0.0.1:PORT/webhook", "here"])
def test_an_address_for_webhooks_that_is_none(command: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--webhook-url", wrong])
    assert ended.value.code == 2
    assert f"{wrong} is not an http(s) address, such as http://127.0.0.1:8000/webhook." in capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        main(["simulator", "--port", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    assert ": another program listens there. End that program, or choose another port" in capsys.readouterr().err


def _sourced(path: Path) -> dict[str, str]:
    """The variables as a shell sees them that sources the file."""
    script = 'set -a; . "$1"; exec "$2" -c "import json, os; print(json.dumps(dict(os.environ)))"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(path), sys.executable], capture_output=True, check=True, text=True, env={}
    )
    values: dict[str, str] = json.loads(done.stdout)
    return values


def test_the_file_of_issues_is_never_written_over(tmp_path: Path) -> None:
    issues = tmp_path / "issues.jsonl"
    issues.write_text('{"id": 1, "title": "It fails", "created_at": "2024-01-01T00:00:00Z"}\n')
    before = issues.read_bytes()
    result = CliRunner().invoke(simulator, ["--issues", str(issues), "--write-env", str(issues), "--repo", "none"])
    assert isinstance(result.exception, UserError) and str(result.exception).startswith("--write-env: ")
    assert issues.read_bytes() == before
