"""The real client against the simulator, as in tests/github; a file of issues, and what `doppel evaluate` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.calling import call, write_lines
from tests.evaluation.made_up import answers, rows
from tests.github.conftest import client, connect, github, server, sim, simulated_time

__all__ = ["client", "connect", "github", "server", "sim", "simulated_time"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "issues.jsonl", rows())


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers for that file, for tests of what is said of them: most of their time went into replays."""
    return write_lines(tmp_path_factory.mktemp("replayed") / "answers.jsonl", answers())


def figures(*arguments: str | Path, env: dict[str, str] | None = None) -> dict[str, Any]:
    """What `doppel evaluate` tells programs."""
    result = call("evaluate", *arguments, "--json", env=env)
    assert result.exit_code == 0, result.output
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed
