"""`doppel index`: how far the index of each repository is."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from bot import settings as host
from bot.cli.shared.stored import stored_repository

if TYPE_CHECKING:
    from rich.console import Console, Group

    from bot.indexing.status import Status

_EVERY = 0.5
_BAR = 20
# The least room for the name of a repository, which may be folded, and what stands between the columns of the table.
_NAME, _BETWEEN = 12, 17
_AT_WORK = ("waiting", "reading", "embedding")
_COLOURS = {"ready": "green", "stopped": "red"}


@click.command()
@click.argument("repository", metavar="[OWNER/REPO]", required=False)
@click.option("--watch", is_flag=True, help="Show it live until everything is ready, or Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def index(repository: str | None, watch: bool, as_json: bool) -> None:
    """Show how far the index of each repository is, or of OWNER/REPO: issues, vectors, texts that the text model
    has read, and what is in the way.

    Workers fill it by themselves, from the installation on, and look every half hour for what webhooks have missed.
    GitHub is not asked here.
    """
    if watch and as_json:
        raise click.UsageError("--watch is for people; leave it out with --json")
    from rich.console import Console

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
        elif watch:
            _watch(found, look)
        else:
            console = Console()
            console.print(_shown(found, console))


def _watch(found: Sequence[Status], look: Callable[[], Sequence[Status]]) -> None:
    """Show what was `found`, and what is seen at each further `look`, until nothing is at work any more."""
    from rich.console import Console
    from rich.live import Live

    console = Console()
    with Live(_shown(found, console), console=console, auto_refresh=False) as live:
        while any(one.state in _AT_WORK for one in found):
            time.sleep(_EVERY)
            found = look()
            live.update(_shown(found, console), refresh=True)
    if not console.is_terminal:
        # On a terminal the last line is ended by then.
        console.print()


def _shown(found: Sequence[Status], console: Console) -> Group:
    from rich import box
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    table.add_column("repository", overflow="fold", min_width=_NAME)
    # Figures stay whole: a terminal of 80 columns would break "12,345 of 17,492" into two lines otherwise.
    table.add_column("state", no_wrap=True)
    table.add_column("issues", justify="right", no_wrap=True)
    table.add_column("vectors", justify="right", no_wrap=True)
    table.add_column("texts", justify="right", no_wrap=True)
    table.add_column("", max_width=_BAR)
    lines = list[Text]()
    for one in found:
        made = [each for each in (one.vectors, one.texts) if each is not None]
        total, done = (one.expected, one.issues) if one.state != "embedding" else (one.issues, min(made, default=0))
        at_work = one.state in _AT_WORK and total
        state, (issues, vectors, texts) = Text(one.state, _COLOURS.get(one.state, "yellow")), _figures(one)
        told = f"  issues: {issues}  vectors: {vectors}  texts: {texts}"
        lines.append(Text.assemble(f"{one.repository}  ", state, told))
        table.add_row(
            Text(one.repository),
            state,
            issues,
            vectors,
            texts,
            ProgressBar(total or 0, min(done, total or 0), _BAR) if at_work else "",
        )
    shown = [("state", "issues", "vectors", "texts"), *((one.state, *_figures(one)) for one in found)]
    needed = _NAME + _BETWEEN + sum(max(map(len, column)) for column in zip(*shown, strict=True))
    # With less room the ends of figures would be cut off, which makes them other figures.
    table_or_lines = [table] if console.width >= needed else lines
    # What GitHub or an endpoint said is no markup.
    return Group(*table_or_lines, *(Text(f"{one.repository}: {one.problem}") for one in found if one.problem))


def _figures(one: Status) -> tuple[str, str, str]:
    """How many issues, how many vectors, and how many texts were read closely, as they are shown."""
    expected = f" of {one.expected:,}" if one.expected is not None else ""
    vectors, texts = ("none" if each is None else f"{each:,}" for each in (one.vectors, one.texts))
    return f"{one.issues:,}{expected}", vectors, texts
