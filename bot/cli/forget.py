"""`doppel forget OWNER/REPO`: erase everything that is stored about a repository (C6a)."""

from __future__ import annotations

import json
from contextlib import closing

import click

from bot import settings as host
from bot.cli.shared.stored import stored_repository
from bot.counted import counted


@click.command()
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print what was erased as JSON.")
def forget(repository: str, yes: bool, as_json: bool) -> None:
    """Erase everything that is stored about a repository; GitHub's id may stand for it.

    That is what is in the store, in the queue, and in the history that `doppel evaluate` has read.

    GitHub is not asked, and its comments there stay. A job that is at work on the repository just now loses its content
    within the hour. Where the App is still installed, the next event makes the repository known again: take it out of
    the installation first. Exit code 1: not confirmed, nothing was erased.
    """
    from bot.evaluation.history_file import erase_history, kept_repositories
    from bot.jobs import Inbox
    from bot.store import open_store

    settings = host.load()
    with closing(open_store(settings)) as store, closing(Inbox(settings)) as inbox:
        meant = stored_repository(store, repository, kept_repositories(settings.home))
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
