"""`doppel digest OWNER/REPO`: what the bot did lately, and how right it was as far as people have said (C7)."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import click

from bot import settings as host
from bot.cli.shared.stored import stored_repository

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from bot.digest.week import Digest
    from bot.words import Words

_UNITS = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class Ago(click.ParamType[float]):
    """A stretch of time such as `36h`, `7d` or `4w`, in seconds."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """See click."""
        found = re.fullmatch(r"([1-9][0-9]{0,3})([hdw])", str(value))
        if found is None:
            self.fail(f"{value!r} is not a time such as 36h, 7d or 4w", param, ctx)
        return int(found[1]) * _UNITS[found[2]]


@click.command()
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--since", type=Ago(), default="7d", show_default=True, help="How far to look back: 36h, 7d, 4w.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, without titles.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print it as Markdown.")
def digest(repository: str, since: float, as_json: bool, as_markdown: bool) -> None:
    """Say what the bot did lately, or would have done (mode: shadow), and how right it was as far as people have said.

    GitHub's id may stand for OWNER/REPO. GitHub is not asked: workers read reactions every hour, and closings, commands
    and ticked boxes as they come. In the table, "not" and "of" in brackets are the commands by which people said so.
    docs/feedback.md says what counts how much.
    """
    if as_json and as_markdown:
        raise click.UsageError("--json or --markdown, not both")
    from rich.console import Console

    from bot.calibration.bar import bar_in_force
    from bot.digest.reading import digest_of, titles_of
    from bot.render import Place
    from bot.render import digest as words
    from bot.repositories.settings import RepositorySettings
    from bot.store import open_store
    from bot.wiring.clients import now
    from bot.wiring.indexes import build_index
    from bot.words import english

    settings, moment, say = host.load(), now(), english()
    with closing(open_store(settings)) as store:
        meant = stored_repository(store, repository)
        found = digest_of(store, meant.id, moment.timestamp() - since, moment.timestamp())
        titles = titles_of(build_index(settings, store), meant.id, found)
        config = RepositorySettings(store, now).last_read(meant.id)
        bar = bar_in_force(config, store.calibrations.get(meant.id))
    if as_json:
        values = {"repository": meant.name, "bar": bar.value, "bar_from": bar.origin.value, **found.to_json()}
        click.echo(json.dumps(values, indent=2))
    elif as_markdown:
        place = Place(meant.name, settings.enterprise)
        click.echo(words.markdown(words.DigestView(found, titles, bar, place, moment, say)), nl=False)
    else:
        click.echo(f"{words.sentences(found, moment, say)}\n{words.bar_words(bar, say)}")
        if found.lines:
            Console(highlight=False).print(_table(found, titles, say))


def _table(found: Digest, titles: Mapping[int, str], say: Words) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from bot.render.digest import standing_words
    from bot.render.escape import clean

    def named(number: int) -> Text:
        # A title is no markup, and no command to the terminal.
        return Text(clean(f"#{number} {titles.get(number, '')}"), overflow="ellipsis", no_wrap=True)

    table = Table("issue", "reported before as", box=box.SIMPLE)
    table.add_column("likely", justify="right")
    table.add_column("so far")
    for line in found.lines:
        so_far = Text(standing_words(line, say, brief=True))
        table.add_row(named(line.number), named(line.other), say.manner.percent(line.probability), so_far)
    return table
