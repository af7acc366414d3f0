"""`doppel demo`: the whole bot against a simulated GitHub, shown in the terminal."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

import click
from rich.console import Console

from bot.cli.shared.files import READ_FILE
from bot.cli.shared.in_json import in_json
from bot.demo.events import Event, to_json
from bot.demo.performance import Plan, perform
from bot.demo.scenario import REPOSITORY
from bot.demo.show import ShowFailed
from bot.demo.terminal import Terminal
from bot.errors import Unavailable
from bot.model import RepoRef

BOT_LOGIN = "doppel[bot]"

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option("--serve", is_flag=True, help="Keep it running, with a web page to play with, until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port [default: a free one].")
@click.option(
    "--issues",
    type=READ_FILE,
    help="Take the issues of this JSON Lines file (.gz too) instead of the made-up ones.",
)
@click.option("--repo", help="The repository's name, OWNER/REPO [default: acme/app with --issues].")
@click.option("--postgres", is_flag=True, help="Keep store and queue in a PostgreSQL server started for this.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON.")
def demo(serve: bool, port: int, issues: Path | None, repo: str | None, postgres: bool, as_json: bool) -> None:
    """See Doppel at work on a made-up repository.

    A simulated GitHub, gunicorn and a worker are started; people open issues and give commands; what the bot answers is
    printed. Everything runs on this machine and is removed at the end. Exit code 1 means that something that should
    have happened did not; the last line says what.
    """
    name = str(RepoRef.parse(repo)) if repo else "acme/app" if issues else REPOSITORY
    terminal = Terminal(Console(), BOT_LOGIN)

    def tell(event: Event) -> None:
        if as_json:
            click.echo(in_json(to_json(event)))
        else:
            terminal.show(event)

    interruption = _Interruption()
    try:
        # `kill` and a closing terminal end it as properly as Ctrl-C, which a shell lets background jobs ignore. Who has
        # said `nohup` wants it to outlive the terminal.
        for number in _SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, interruption)
        perform(Plan(serve, issues, name, postgres, port), tell)
    except BaseException as failure:
        # What an interruption breaks off can end in another error: libraries in C wrap whatever is raised within them.
        if interruption.came:
            # With --serve this is the way to end it.
            sys.exit(0 if serve else 128 + interruption.came)
        if not isinstance(failure, ShowFailed | Unavailable):
            raise
        for note in getattr(failure, "__notes__", ()):
            click.echo(note, err=True)
        click.echo(f"doppel: the demo went wrong: {failure}", err=True)
        sys.exit(1)


class _Interrupted(BaseException):
    """In place of KeyboardInterrupt, for which Python can end a process by the signal though it was caught.

    It does where the signal came while code made from a string was run, as for every dataclass that is being imported.
    """


class _Interruption:
    """What is done on the first signal; `came` is its number, 0 before there is one."""

    def __init__(self) -> None:
        self.came = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = number
        # What ends the processes and removes what they wrote must not be interrupted.
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        raise _Interrupted
