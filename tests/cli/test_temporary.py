"""Commands that make an index in a temporary file, where that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calling import write_lines
from tests.evaluation.made_up import rows

# Bytes; the empty tables of an index take more.
LARGEST = 100 * 1024


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_that_it_is_no_database_of_the_hosts_is_told(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "issues.jsonl", rows())
    whole = [sys.executable, "-m", "bot", "scan", "--processes", "1", file.name]
    environ = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    limited = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({LARGEST}, {LARGEST}))"
    begun = [sys.executable, "-c", f"{limited}; os.execv(sys.executable, sys.argv[1:])", *whole]
    ended = subprocess.run(begun, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 3
    assert f"the index in {tmp_path} failed (" in ended.stderr
    assert ended.stderr.endswith("); TMPDIR names another place\n")
