"""The real client against the simulator, as in tests/github; and a file of issues."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calling import call, write_lines
from tests.evaluation.made_up import rows
from tests.github.conftest import client, connect, github, server, sim, simulated_time

__all__ = ["client", "connect", "github", "server", "sim", "simulated_time"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "issues.jsonl", rows())


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a replay of that file answers, for tests of what is said of it: most of their time went into replays."""
    folder = tmp_path_factory.mktemp("replayed")
    file, answers = write_lines(folder / "issues.jsonl", rows()), folder / "answers.jsonl"
    assert call("replay", file, "--out", answers, "--from", "0").exit_code == 0
    return answers
