"""The real client against the simulator, as in tests/github; and a file of issues."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calling import write_lines
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
