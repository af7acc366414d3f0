"""From a checkout to the first comment, by the clock: `python -m bench.newcomer` types what docs/guides/try.md says.

The page's blocks are run as they stand, each terminal in a shell of its own, in a folder that is removed at the end.
Only the looking is repeated until there is something to see, as a person would. Exit code 1: something did not come.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guides" / "try.md"
PATIENCE = 120.0
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@click.command()
def main() -> None:
    """Follow the page, and say after how many seconds each step had come."""
    simulator, bot, *steps = BLOCK.findall(PAGE.read_text(encoding="utf-8").partition("\n## ")[0])
    read, report, see, talk, settings = steps
    began = time.monotonic()

    def done(what: str) -> None:
        click.echo(f"{time.monotonic() - began:6.1f} s  {what}")

    with tempfile.TemporaryDirectory() as folder, ExitStack() as terminals:
        checkout = Path(folder)
        for name in ("bot", "handlers", "app.yml"):
            (checkout / name).symlink_to(ROOT / name)
        # That of whoever runs this, which need not lie in this checkout.
        (checkout / ".venv").symlink_to(sys.prefix)
        first = terminals.enter_context(terminal(simulator, checkout, "first"))
        wait_for(first, "176 issues")
        done("the simulated GitHub is there")
        second = terminals.enter_context(terminal(bot, checkout, "second"))
        wait_for(second, "worker ready")
        done("the bot is ready")
        until(lambda: typed(read, checkout), "ready")
        done("the index is complete")
        # What the third terminal knows stays known there, while nothing is reported twice.
        there = read.splitlines()[0] + "\n"
        typed(there + report, checkout)
        done("an issue is reported")
        known = there + "\n".join(line for line in report.splitlines() if "issues -d" not in line) + "\n"
        look = known + see.splitlines()[0]
        seen = until(lambda: typed(look, checkout), "#155")
        done("the first comment: " + next(line for line in seen.splitlines() if "#155" in line).strip())
        typed(known + see, checkout)
        typed(known + talk, checkout)
        until(lambda: typed(look, checkout), "are different")
        done("two commands are answered")
        typed(known + settings, checkout)
        until(lambda: typed(known + settings.splitlines()[-1], checkout), "#178")
        done("in shadow mode the digest has the next issue")


@contextmanager
def terminal(block: str, checkout: Path, name: str) -> Iterator[Path]:
    """A terminal in which the block goes on running; gives the file with what it shows."""
    shown = checkout / f"{name}.txt"
    with shown.open("wb") as output:
        shell = subprocess.Popen(
            ["bash", "-e", "-c", block],
            cwd=checkout,
            env=environ(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield shown
        finally:
            os.killpg(shell.pid, signal.SIGINT)
            shell.wait(40)


def typed(block: str, checkout: Path) -> str:
    """What a block shows that ends by itself; exits where it fails."""
    done = subprocess.run(
        ["bash", "-c", block], cwd=checkout, env=environ(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{block}\nfailed: {done.stdout}{done.stderr}")
    return done.stdout


def environ() -> dict[str, str]:
    """A newcomer's: no settings of an App, no data of before."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "PORT") if name in os.environ}
    return {**kept, "PYTHONUNBUFFERED": "1"}


def wait_for(file: Path, words: str) -> None:
    """Look at a terminal until it shows the words."""
    until(lambda: file.read_text(encoding="utf-8"), words)


def until(look: Callable[[], str], words: str) -> str:
    """What is seen once the words are in it; exits where they do not come."""
    end = time.monotonic() + PATIENCE
    while words not in (seen := look()):
        if time.monotonic() > end:
            sys.exit(f"{words!r} did not come within {PATIENCE:.0f} s; the last that was seen:\n{seen}")
        time.sleep(0.5)
    return seen


if __name__ == "__main__":
    main()
