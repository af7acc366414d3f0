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

from bot.app.demo.scenario import script
from tests.calling import write_lines
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
    rows = [{"id": n, "title": f"It fails {n}", "created_at": f"2024-01-0{n}T00:00:00Z"} for n in range(1, 4)]
    issues = write_lines(tmp_path / "issues.jsonl", rows)
    started = subprocess.Popen(
        [*COMMAND, "--serve", "--json", "--issues", str(issues)],
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
        assert (ready["repository"], ready["issues"]) == ("acme/app", 2)
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


def children_of(pid: int) -> list[int]:
    """The processes that this one started, and those that they did."""
    if not Path("/proc/self/task").exists():
        pytest.skip("needs Linux's /proc")
    found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [below for child in found for below in children_of(child)]
