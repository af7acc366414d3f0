"""Our commands as several test modules call them, and the files and ports that they are given."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from bot.app.cli import main
from tests.waiting import LONGEST, wait_until

# Below those that a system gives to whoever asks for any, from 32,768 on; each process of a run has some of its own.
_LOWEST, _EACH = 16_000, 500
_drawn = itertools.count(os.getpid())


def free_port() -> int:
    """A port for a process that has to be told one: nobody listens there, and no other test of the run is given it.

    One that the system gave would be given to the next who asks, as soon as it is let go.
    """
    first = _LOWEST + _EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 32)
    while True:
        port = first + next(_drawn) % _EACH
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def call(*arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    """The console script's own way, with its exit codes."""

    class Script:
        name = "doppel"

        def main(self, args: list[str], prog_name: str, **extra: Any) -> Any:
            return main(args)

    return CliRunner().invoke(Script(), [str(one) for one in arguments], env=env)  # type: ignore[arg-type]


def told_to_end(
    number: signal.Signals, *arguments: str | Path, temporary: Path, begun: Callable[[], bool], together: bool = False
) -> str:
    """What a process says to its end that is sent a signal once it has `begun`, and then ends.

    Texts are kept in `temporary` while it is at work. `together`: all processes that it has started are sent it too.
    These end as well, or the test fails.
    """
    killed = number is signal.SIGKILL
    running = subprocess.Popen(
        [sys.executable, "-m", "bot", *map(str, arguments)],
        env=os.environ | {"TMPDIR": str(temporary), "DOPPEL_EMBEDDING_MODEL": "none"},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=None if killed else lambda: signal.signal(number, signal.SIG_DFL),
        start_new_session=True,
    )
    try:
        wait_until(lambda: begun() or running.poll() is not None)
        assert running.poll() is None, running.communicate()[1]
        if together:
            os.killpg(running.pid, number)
        else:
            running.send_signal(number)
        # The pipe is at its end when nobody who was started has it open any more.
        _, said = running.communicate(timeout=LONGEST)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == (-number if killed else 128 + number), said
    return said


def is_deaf_to_ctrl_c(pid: int) -> bool:
    """Whether a process holds SIGINT back or ignores it: the one that started it ends it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigBlk", "SigIgn"))]
    return any(mask >> (signal.SIGINT - 1) & 1 for mask in masks)
