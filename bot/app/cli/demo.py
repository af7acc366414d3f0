"""`doppel demo`: the whole bot against a simulated GitHub, shown in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from bot.app.cli.shared.console import cleanup_on_signal, in_json
from bot.app.cli.shared.parameters import READ_FILE, json_option
from bot.app.demo.performance import perform
from bot.app.demo.scenario import REPOSITORY
from bot.app.demo.show import ShowFailed
from bot.app.demo.terminal import Lines, Terminal
from bot.domain.entities import RepoRef
from bot.domain.errors import Unavailable

_ISSUES = "Take the issues of this JSON Lines file (.gz too) instead of the made-up ones."


@click.command()
@click.option("--serve", is_flag=True, help="Keep it running, with a web page to play with, until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port [default: a free one].")
@click.option("--issues", type=READ_FILE, help=_ISSUES)
@click.option("--repo", help="The repository's name, OWNER/REPO [default: acme/app with --issues].")
@click.option("--postgres", is_flag=True, help="Keep store and queue in a PostgreSQL server started for this.")
@json_option
def demo(serve: bool, port: int, issues: Path | None, repo: str | None, postgres: bool, as_json: bool) -> None:
    """See Doppel at work on a made-up repository.

    A simulated GitHub, gunicorn and a worker are started; people open issues and give commands; what the bot answers is
    printed, with --json each event as a line. Everything runs on this machine and is removed at the end. Exit code 1
    means that something that should have happened did not; the last line says what.
    """
    name = str(RepoRef.parse(repo)) if repo else "acme/app" if issues else REPOSITORY
    tell = Lines(lambda event: click.echo(in_json(event))) if as_json else Terminal(Console(), "doppel[bot]")
    try:
        with cleanup_on_signal():
            perform(tell, name, issues, page=port if serve else None, postgres=postgres)
    except KeyboardInterrupt:
        # With --serve this is the way to end it.
        if not serve:
            raise
    except (ShowFailed, Unavailable) as failure:
        for note in getattr(failure, "__notes__", ()):
            click.echo(note, err=True)
        click.echo(f"doppel: the demo went wrong: {failure}", err=True)
        sys.exit(1)
