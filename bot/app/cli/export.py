"""`doppel export` and `doppel forget`: all that is stored of a repository is shown as JSON, or erased (C6a)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.app.cli.shared.console import file_errors, in_json
from bot.app.cli.shared.parameters import OUT, NamedRepository, json_option, repository_argument, stored
from bot.domain.formats import counted
from bot.platform.private_files import replace_file
from bot.platform.settings import Settings

if TYPE_CHECKING:
    from bot.storage import Store


@click.command()
@repository_argument
@click.option("--out", type=OUT, help="Write to this file, not to the terminal.")
def export(repository: str, out: Path | None) -> None:
    """Print everything that is stored about a repository as JSON; GitHub's id may stand for OWNER/REPO.

    GitHub is not asked. The object has the repository's name and id, its rows in each table of the store (bytes in
    base64, times in seconds since 1970), what the queue holds of it, and the history that `doppel evaluate` has read.
    FILE can be read by its owner only.
    """
    with stored(repository, evaluated=True) as (settings, store, meant):
        pieces = _json(settings, store, meant)
        if out is None:
            for piece in pieces:
                click.echo(piece, nl=False)
        else:
            with file_errors(f"--out: {out} cannot be written"):
                replace_file(out, pieces)
            click.echo(f"{meant.name}: written to {out}", err=True)


def _json(settings: Settings, store: Store, meant: NamedRepository) -> Iterator[str]:
    """The object piece by piece, since an index can be larger than what should lie in memory."""
    from bot.deliveries.inbox import queued_content
    from bot.quality.evaluation.history import stored_issues
    from bot.storage.store import export as tables_of

    queue = queued_content(settings, meant.id)
    yield f'{{"repository": {json.dumps(meant.name)}, "id": {meant.id}, "tables": {{'
    for index, (name, rows) in enumerate(tables_of(store.engine, meant.id)):
        yield f"{',' if index else ''}\n  {json.dumps(name)}: ["
        for number, row in enumerate(rows):
            yield f"{',' if number else ''}\n    {in_json(row)}"
        yield "]"
    yield '},\n"queue": ' + in_json(queue, indent=2) + ',\n"history": ['
    for number, issue in enumerate(stored_issues(settings.home, meant.id)):
        yield f"{',' if number else ''}\n  {in_json(issue)}"
    yield "]}\n"


@click.command()
@repository_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget(repository: str, yes: bool, as_json: bool) -> None:
    """Erase everything that is stored about a repository; GitHub's id may stand for it.

    That is what is in the store, in the queue, and in the history that `doppel evaluate` has read.

    GitHub is not asked, and its comments there stay. A job that is at work on the repository just now loses its content
    within the hour. Where the App is still installed, the next event makes the repository known again: take it out of
    the installation first. Exit code 1: not confirmed, nothing was erased.
    """
    from bot.deliveries.inbox import Inbox
    from bot.quality.evaluation.history import erase_history

    with stored(repository, evaluated=True) as (settings, store, meant), closing(Inbox(settings)) as inbox:
        if not yes:
            click.confirm(f"Erase everything that is stored about {meant.name} for good?", abort=True, err=True)
        # The queue first: a job that still waits would store anew what is erased.
        inbox.erase(meant.id)
        rows = store.forget(meant.id)
    erase_history(settings.home, meant.id)
    if as_json:
        click.echo(json.dumps({"repository": meant.name, "id": meant.id, "rows": rows}))
    else:
        click.echo(f"{meant.name}: {counted(rows, 'row')} erased, and what the queue held of it")
