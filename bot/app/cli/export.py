"""`doppel export` and `doppel forget`: print everything stored about a repository as JSON, or erase it (C6a)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.app.cli.shared.console import echo_json, file_errors, in_json
from bot.app.cli.shared.parameters import OUT, NamedRepository, json_option, repository_argument, stored
from bot.domain.formats import counted
from bot.platform.private_files import replace_file
from bot.platform.settings import Settings

if TYPE_CHECKING:
    from bot.storage import Store


@click.command()
@repository_argument
@click.option("--out", type=OUT, help="Write to this file instead of the terminal.")
def export(repository: str, out: Path | None) -> None:
    """Print everything that is stored about a repository as JSON. GitHub's id may replace OWNER/REPO.

    This command does not ask GitHub. The object has the repository's name and id, its rows in each table of the store
    (bytes in base64, times in seconds since 1970), its entries in the queue, and the history that `doppel evaluate` has
    read. The file of --out is readable only by its owner.
    """
    # `evaluated` also accepts a repository that only `doppel evaluate` has read.
    with stored(repository, evaluated=True) as (settings, store, target):
        pieces = _json_pieces(settings, store, target)
        if out is None:
            for piece in pieces:
                click.echo(piece, nl=False)
        else:
            with file_errors(f"--out: {out} cannot be written"):
                replace_file(out, pieces)
            click.echo(f"{target.name}: written to {out}", err=True)


def _json_pieces(settings: Settings, store: Store, target: NamedRepository) -> Iterator[str]:
    """The JSON object in pieces, because the rows can be too many for memory."""
    from bot.deliveries.inbox import queued_content
    from bot.quality.evaluation.history import stored_issues
    from bot.storage.store import export as tables_of

    queue = queued_content(settings, target.id)
    yield f'{{"repository": {json.dumps(target.name)}, "id": {target.id}, "tables": {{'
    for index, (name, rows) in enumerate(tables_of(store.engine, target.id)):
        yield f"{',' if index else ''}\n  {json.dumps(name)}: ["
        for number, row in enumerate(rows):
            yield f"{',' if number else ''}\n    {in_json(row)}"
        yield "]"
    yield '},\n"queue": ' + in_json(queue, indent=2) + ',\n"history": ['
    for number, issue in enumerate(stored_issues(settings.home, target.id)):
        yield f"{',' if number else ''}\n  {in_json(issue)}"
    yield "]}\n"


@click.command()
@repository_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget(repository: str, yes: bool, as_json: bool) -> None:
    """Erase everything that is stored about a repository: store, queue, and the history that `doppel evaluate` read.

    GitHub's id may replace OWNER/REPO. Nothing changes on GitHub: the bot's comments stay there.
    A job that is working on the repository is not stopped. While the App is installed, the next
    event makes the repository known again: remove the repository from the installation first.
    """
    from bot.deliveries.inbox import Inbox
    from bot.quality.evaluation.history import erase_history

    with stored(repository, evaluated=True) as (settings, store, target), closing(Inbox(settings)) as inbox:
        if not yes:
            click.confirm(f"Erase everything that is stored about {target.name} for good?", abort=True, err=True)
        # Erase the queue first: a waiting job would store the repository's data again.
        inbox.erase(target.id)
        rows = store.forget(target.id)
    erase_history(settings.home, target.id)
    if as_json:
        echo_json({"repository": target.name, "id": target.id, "rows": rows})
    else:
        click.echo(f"{target.name}: erased {counted(rows, 'row')}, and its entries in the queue")
