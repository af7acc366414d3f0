"""`doppel demo` as its user runs it: the whole show once, and an end in the middle that leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from bot.app.demo.scenario import REPOSITORY, script
from tests.waiting import LONGEST

pytestmark = pytest.mark.processes

COMMAND = [sys.executable, "-m", "bot", "demo"]


def environment(home: Path, **more: str) -> dict[str, str]:
    """As little as a newcomer has; a setting of theirs must not reach the demo."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "DOPPEL_PAUSED": "on", **more}


def test_the_show_runs_to_its_end_without_a_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        cwd=tmp_path,
        env=environment(tmp_path, TERM="dumb", LANG="C"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    out = done.stdout.decode("utf-8")
    assert done.returncode == 0, out + done.stderr.decode()
    assert done.stderr == b""
    assert "\x1b" not in out and max(map(cell_len, out.splitlines())) <= 80
    for scene in script():
        assert scene.heading in out
    for said in (
        "doppel[bot] commented on #177",
        "▾ How this was found",
        "Unasked, the bot would have named",
        "looked and said nothing",
        "closed as completed on",
        "1 #44 Map stays grey",
        "are different",
        "closed as a duplicate of #155",
        "mentioned nobody",
    ):
        assert said in " ".join(out.replace("│", " ").split()), said
    assert not list(tmp_path.glob("doppel-demo-*"))


def test_an_interruption_ends_every_process_and_removes_what_it_wrote(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [*COMMAND, "--serve", "--json"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert started.stdout is not None
        events = iter(map(json.loads, started.stdout))
        ready = next(event for event in events if event["event"] == "ready")
        assert (ready["repository"], ready["issues"]) == (REPOSITORY, 176)
        serving = next(event for event in events if event["event"] == "serving")
        assert serving["url"].startswith("http://127.0.0.1:")
        children = children_of(started.pid)
        assert len(children) >= 2
        started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=LONGEST) == 0
    finally:
        started.kill()
        started.wait()
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
    assert not list(tmp_path.glob("doppel-demo-*"))


INTERRUPTED_AMID_AN_IMPORT = """
import signal

import bot.app.cli.demo
from bot.app.cli import main

# A shell that starts the tests in the background lets them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def perform(*_, **__):
    # As the making of a dataclass does.
    exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass")

bot.app.cli.demo.perform = perform
main(["demo", "--serve"])
"""


def test_an_interruption_amid_an_import_is_the_proper_end_too(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_AMID_AN_IMPORT, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, env=environment(tmp_path), check=False)
    assert done.returncode == 0


def children_of(pid: int) -> list[int]:
    """The processes that this one started, and those that they did."""
    if not Path("/proc/self/task").exists():
        pytest.skip("needs Linux's /proc")
    found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [below for child in found for below in children_of(child)]
