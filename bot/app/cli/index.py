"""`doppel index`: the progress of each repository's index."""

from __future__ import annotations

import dataclasses
import time
from contextlib import closing
from typing import TYPE_CHECKING

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import json_option, stored_repository
from bot.platform import settings as host

if TYPE_CHECKING:
    from bot.search.indexer import IndexStatus

_EVERY = 0.5  # seconds
_AT_WORK = ("waiting", "reading", "embedding")
_COLOURS = {"ready": "green", "stopped": "red"}


@click.command()
@click.argument("repository", metavar="[OWNER/REPO]", required=False)
@click.option("--watch", is_flag=True, help="Show the progress live until everything is ready, or Ctrl-C.")
@json_option
def index(repository: str | None, watch: bool, as_json: bool) -> None:
    """Show the progress of each repository's index, or of the index of OWNER/REPO:
    the issues, the vectors, the texts read by the text model, and problems.

    Workers fill an index by themselves after the installation, and look every half hour for changes that webhooks
    missed. This command does not ask GitHub.
    """
    if watch and as_json:
        raise click.UsageError("--watch is for people; leave it out with --json")
    from bot.app.wiring.indexes import build_index
    from bot.search.indexer import index_statuses
    from bot.storage import open_store

    settings, console = host.load(), Console(highlight=False)
    with closing(open_store(settings)) as store:
        built = build_index(settings, store)
        wanted = stored_repository(store, repository, {}).id if repository else None

        def look() -> list[IndexStatus]:
            repositories = [one for one in store.repositories.list() if wanted is None or one.id == wanted]
            return list(index_statuses(repositories, store.backfills, built))

        found = look()
        if as_json:
            echo_json([dataclasses.asdict(one) for one in found])
        elif not found:
            click.echo("The store holds no repository: install the App on one, and it is indexed.")
        elif not watch:
            console.print(*map(_line, found), sep="\n")
        else:
            with Live(Group(*map(_line, found)), console=console, auto_refresh=False) as live:
                while any(one.state in _AT_WORK for one in found):
                    time.sleep(_EVERY)
                    found = look()
                    live.update(Group(*map(_line, found)), refresh=True)


def _line(one: IndexStatus) -> Text:
    """The line of a repository. It is Text, because messages of GitHub or an endpoint must not act as markup."""
    expected = "" if one.expected is None else f" of {one.expected:,}"
    vectors, texts = ["none" if count is None else f"{count:,}" for count in (one.vectors, one.texts)]
    figures = f"  issues {one.issues:,}{expected}  vectors {vectors}  texts {texts}"
    problem = f"\n  {one.problem}" if one.problem else ""
    return Text.assemble(f"{one.repository}  ", (one.state, _COLOURS.get(one.state, "yellow")), figures, problem)
