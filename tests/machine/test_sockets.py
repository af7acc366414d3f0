"""Sockets of processes that speak to each other, where TMPDIR is a path longer than a socket's may be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.machine import sockets
from tests.waiting import LONGEST

TALK = """
import multiprocessing, os, tempfile
from bot.machine.sockets import use_short_paths
if __name__ == "__main__":
    use_short_paths()
    with multiprocessing.get_context("spawn").Manager() as manager:
        told = manager.Queue()
        told.put("heard")
        print(told.get(), os.path.dirname(os.path.dirname(manager.address)), tempfile.gettempdir())
"""


def talk(temporary: Path, tmp_path: Path) -> list[str]:
    """What was heard over a socket, the folder in which it lay, and that for everything else."""
    temporary.mkdir()
    script = tmp_path / "talk.py"
    script.write_text(TALK, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.processes
def test_a_folder_with_a_long_path_is_used_for_all_but_sockets(tmp_path: Path) -> None:
    temporary = tmp_path / ("long" * 25)
    heard, of_socket, of_others = talk(temporary, tmp_path)
    assert (heard, of_others) == ("heard", str(temporary))
    assert len(of_socket) < 60


def test_where_every_path_is_too_long_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / ("long" * 25)
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(sockets, "_SHORT", ())
    with pytest.raises(UserError, match=r"TMPDIR: .*long is too long a path for the sockets"):
        sockets.use_short_paths()
