"""docs/guides/try.md, typed as it stands into shells of their own: each of its steps comes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calling import free_port
from tests.waiting import LONGEST

pytestmark = pytest.mark.processes

STEPS = (
    "the simulated GitHub is there",
    "the bot is ready",
    "the index is complete",
    "an issue is reported",
    "the first comment: 1. [#155]",
    "two commands are answered",
    "in shadow mode the digest has the next issue",
)


@pytest.mark.skipif(shutil.which("curl") is None, reason="not on this machine: curl")
def test_what_the_page_tells_a_newcomer_to_type_does_what_it_says() -> None:
    command = [sys.executable, "-m", "bench.newcomer"]
    env = {**os.environ, "PORT": str(free_port())}
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, text=True) as newcomer:
        try:
            seen, _ = newcomer.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            # What it has started ends with it only where it is asked to end.
            newcomer.send_signal(signal.SIGINT)
            seen, _ = newcomer.communicate(timeout=LONGEST)
    lines = [line.strip().partition(" s  ")[2] for line in seen.splitlines()]
    assert [line[: len(step)] for line, step in zip(lines, STEPS, strict=True)] == list(STEPS)
    assert newcomer.returncode == 0
