"""`doppel export OWNER/REPO`: everything that is stored about a repository, as JSON (C6a)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot import settings as host
from bot.cli.shared.files import told_if_refused
from bot.cli.shared.in_json import in_json
from bot.cli.shared.stored import Meant, stored_repository
from bot.machine.private_files import replace_file
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.store import Store


@click.command()
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, not to the terminal.")
def export(repository: str, out: Path | None) -> None:
    """Print everything that is stored about a repository as JSON; GitHub's id may stand for OWNER/REPO.

    GitHub is not asked. The object has the repository's name and id, its rows in each table of the store (bytes in
    base64, times in seconds since 1970), what the queue holds of it, and the history that `doppel evaluate` has read.
    FILE can be read by its owner only.
    """
    from bot.evaluation.history_file import kept_repositories
    from bot.store import open_store

    settings = host.load()
    with closing(open_store(settings)) as store:
        meant = stored_repository(store, repository, kept_repositories(settings.home))
        pieces = _json(settings, store, meant)
        if out is None:
            for piece in pieces:
                click.echo(piece, nl=False)
        else:
            with told_if_refused(f"--out: {out} cannot be written"):
                replace_file(out, pieces)
            click.echo(f"{meant.name}: written to {out}", err=True)


def _json(settings: Settings, store: Store, meant: Meant) -> Iterator[str]:
    """The object piece by piece, since an index can be larger than what should lie in memory."""
    from bot.evaluation.history_file import kept_issues
    from bot.jobs.inspection.holdings import holdings
    from bot.store.export import export as tables

    queue = holdings(settings, meant.id)
    yield f'{{"repository": {json.dumps(meant.name)}, "id": {meant.id}, "tables": {{'
    for index, (name, rows) in enumerate(tables(store.engine, meant.id)):
        yield f"{',' if index else ''}\n  {json.dumps(name)}: ["
        for number, row in enumerate(rows):
            yield f"{',' if number else ''}\n    {in_json(row)}"
        yield "]"
    yield '},\n"queue": ' + in_json(queue, indent=2) + ',\n"history": ['
    for number, issue in enumerate(kept_issues(settings.home, meant.id)):
        yield f"{',' if number else ''}\n  {in_json(issue)}"
    yield "]}\n"
