"""`doppel demo`: the whole bot against a simulated GitHub, shown in the terminal."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import click
from rich.console import Console

from bot.app.cli.shared.console import in_json
from bot.app.cli.shared.parameters import READ_FILE, json_option
from bot.app.demo.scenario import REPOSITORY
from bot.app.demo.show import ShowFailed, perform
from bot.app.demo.terminal import Lines, Terminal
from bot.domain.entities import RepoRef
from bot.domain.errors import Unavailable
from bot.platform.signals import cleanup_on_signal

_ISSUES = "Use the issues of this JSON Lines file (.gz too) instead of the made-up issues."


@click.command()
@click.option("--serve", is_flag=True, help="Keep the demo running until Ctrl-C, with a web page to play with.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port [default: a free one].")
@click.option("--issues", type=READ_FILE, help=_ISSUES)
@click.option("--repo", help=f"The OWNER/REPO [default: {REPOSITORY}; acme/app with --issues].")
@json_option
def demo(serve: bool, port: int, issues: Path | None, repo: str | None, as_json: bool) -> None:
    """See Doppel at work on a made-up repository.

    The demo starts a simulated GitHub, gunicorn and a worker. Simulated people open issues and give commands, and the
    bot's answers are printed; with --json, each event is one line of JSON. Everything runs on this machine and is
    removed at the end. Exit code 1 means that an expected event did not happen; the last line says which.
    """
    name = str(RepoRef.parse(repo or ("acme/app" if issues else REPOSITORY)))
    tell = Lines(lambda event: click.echo(in_json(event))) if as_json else Terminal(Console(), "doppel[bot]")
    try:
        expected_interrupt = suppress(KeyboardInterrupt) if serve else nullcontext()
        with expected_interrupt, cleanup_on_signal():
            perform(tell, name, issues, page=port if serve else None)
    except (ShowFailed, Unavailable) as failure:
        for note in getattr(failure, "__notes__", ()):
            click.echo(note, err=True)
        click.echo(f"doppel: the demo went wrong: {failure}", err=True)
        sys.exit(1)
