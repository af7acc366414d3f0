"""`doppel index`: how far the index of each repository is."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from bot import settings as host
from bot.cli.shared.stored import stored_repository

if TYPE_CHECKING:
    from rich.console import Group

    from bot.indexing.status import Status

_EVERY = 0.5
_BAR = 20
_AT_WORK = ("waiting", "reading", "embedding")
_COLOURS = {"ready": "green", "stopped": "red"}


@click.command()
@click.argument("repository", metavar="[OWNER/REPO]", required=False)
@click.option("--watch", is_flag=True, help="Show it live until everything is ready, or Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def index(repository: str | None, watch: bool, as_json: bool) -> None:
    """Show how far the index of each repository is, or of OWNER/REPO: issues, vectors, and what is in the way.

    Workers fill it by themselves, from the installation on, and look every half hour for what webhooks have missed.
    GitHub is not asked here.
    """
    if watch and as_json:
        raise click.UsageError("--watch is for people; leave it out with --json")
    from rich.console import Console
    from rich.live import Live

    from bot.indexing.status import statuses
    from bot.store import open_store
    from bot.wiring.indexes import build_index

    settings = host.load()
    with closing(open_store(settings)) as store:
        there = build_index(settings, store)
        wanted = stored_repository(store, repository).id if repository else None

        def look() -> list[Status]:
            repositories = [one for one in store.repositories.list() if wanted in (None, one.id)]
            return list(statuses(repositories, store.backfills, there))

        found = look()
        if as_json:
            click.echo(json.dumps([dataclasses.asdict(one) for one in found], indent=2))
        elif not found:
            click.echo("The store holds no repository: install the App on one, and it is indexed.")
        elif not watch:
            Console().print(_shown(found))
        else:
            with Live(_shown(found), auto_refresh=False) as live:
                while any(one.state in _AT_WORK for one in found):
                    time.sleep(_EVERY)
                    found = look()
                    live.update(_shown(found), refresh=True)


def _shown(found: Sequence[Status]) -> Group:
    from rich import box
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    table.add_column("repository", overflow="fold", min_width=12)
    # Figures stay whole: a terminal of 80 columns would break "12,345 of 17,492" into two lines otherwise.
    table.add_column("state", no_wrap=True)
    table.add_column("issues", justify="right", no_wrap=True)
    table.add_column("vectors", justify="right", no_wrap=True)
    table.add_column("", max_width=_BAR)
    for one in found:
        total, done = (one.expected, one.issues) if one.state != "embedding" else (one.issues, one.vectors or 0)
        at_work = one.state in _AT_WORK and total
        table.add_row(
            Text(one.repository),
            Text(one.state, _COLOURS.get(one.state, "yellow")),
            f"{one.issues:,}" + (f" of {one.expected:,}" if one.expected is not None else ""),
            "none" if one.vectors is None else f"{one.vectors:,}",
            ProgressBar(total or 0, min(done, total or 0), _BAR) if at_work else "",
        )
    # What GitHub or an endpoint said is no markup.
    return Group(table, *(Text(f"{one.repository}: {one.problem}") for one in found if one.problem))
