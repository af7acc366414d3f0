"""A set-up that is right, and `doppel doctor` looking at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.app.cli import cli
from bot.app.wiring.manifest import permissions
from bot.simulator import Server, start_simulator

Found = dict[str, tuple[str, str, str]]


@pytest.fixture
def github() -> Iterator[Server]:
    with start_simulator(webhook_secret="a secret of some length") as server:
        server.sim.add_repository("acme/app")
        server.sim.install("acme/app")
        server.sim.set_permissions("acme", dict(permissions()))
        yield server


@pytest.fixture
def examine(github: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Found]:
    """Runs the command with settings that are right but for those given; answers the findings by their subject."""
    monkeypatch.chdir(tmp_path)

    def examine(**changes: str) -> Found:
        environ = {
            "APP_ID": str(github.app_id),
            "PRIVATE_KEY": github.private_key_pem,
            "WEBHOOK_SECRET": github.webhook_secret,
            "GITHUB_API_URL": github.url,
            "DOPPEL_HOME": str(tmp_path / "home"),
        }
        for name, value in (environ | changes).items():
            monkeypatch.setenv(name, value)
        result = CliRunner().invoke(cli, ["doctor", "--json"], catch_exceptions=False)
        report = json.loads(result.stdout)
        assert result.exit_code == (0 if report["ok"] else 1)
        assert report["ok"] == all(one["health"] != "broken" for one in report["findings"])
        for name in environ | changes:
            monkeypatch.delenv(name)
        return {one["subject"]: (one["health"], one["says"], one["mend"]) for one in report["findings"]}

    return examine
