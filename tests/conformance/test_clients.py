"""Clients that others wrote can use the simulator: Octokit here, PyGithub in tests/simulator."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bot.simulator import start_simulator
from tests.waiting import LONGEST

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("octokit.mjs")


def test_octokit(octokit: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    with start_simulator() as server:
        sim = server.sim
        sim.add_repository("acme/app")
        sim.install("acme/app")
        sim.open_issue("acme/app", "ann", "Import stops at the first empty row", "It stops.")
        sim.open_issue("acme/app", "bob", "Colours differ on paper", "They do.")
        sim.set_permission("acme/app", "rita", "read")
        key.write_text(server.private_key_pem)
        command: list[str | Path] = [
            "node",
            SCRIPT,
            server.url,
            str(server.app_id),
            key,
            sim.user_token("rita"),
            octokit,
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout) == {
            "app": sim.app.slug,
            "issues": ["Colours differ on paper", "Import stops at the first empty row"],
            "found": 1,
            "author": f"{sim.app.slug}[bot]",
            "graphql": "Import stops at the first empty row",
            "opened": 3,
            "refused": 403,
        }
        assert sim.unknown_requests == []
        assert sim.violations == []
