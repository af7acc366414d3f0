"""`doppel demo` as its user runs it: the whole show once, and an end in the middle that leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from bot.cli.demo import demo
from bot.demo.scenario import REPOSITORY, script
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


@pytest.mark.parametrize(("options", "code"), [([], 128 + signal.SIGTERM), (["--serve"], 0)])
def test_an_interruption_is_one_whatever_a_library_makes_of_it(
    options: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it comes while a library in C calls Python, and wraps what is raised there."""

    def wraps(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException as raised:
            raise ValueError("Error building a validator") from raised

    monkeypatch.setattr("bot.cli.demo.perform", wraps)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        assert CliRunner().invoke(demo, options).exit_code == code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_second_signal_does_not_break_off_what_the_first_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a terminal is closed after Ctrl-C."""
    put_away = []

    def shows(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            put_away.append("everything")

    monkeypatch.setattr("bot.cli.demo.perform", shows)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        # The tests themselves may have been begun with `nohup`.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert CliRunner().invoke(demo, []).exit_code == 130
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert put_away == ["everything"]


def test_nohup_keeps_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """`nohup doppel demo --serve &` ended with the terminal all the same."""
    monkeypatch.setattr("bot.cli.demo.perform", lambda *_, **__: signal.raise_signal(signal.SIGHUP))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        assert CliRunner().invoke(demo, []).exit_code == 128 + signal.SIGHUP
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert CliRunner().invoke(demo, []).exit_code == 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
        started.send_signal(signal.SIGINT)
        assert started.wait(timeout=LONGEST) == 0
    finally:
        started.kill()
        started.wait()
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
    assert not list(tmp_path.glob("doppel-demo-*"))


INTERRUPTED_AMID_AN_IMPORT = """
import bot.cli.demo
from bot.cli import main

def perform(*_, **__):
    # As the making of a dataclass does.
    exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass")

bot.cli.demo.perform = perform
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
