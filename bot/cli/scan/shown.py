"""What is put out of the groups: for a terminal, a program, an issue or a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.addresses import pages_of
from bot.cli.scan.backlog import Backlog
from bot.cli.shared.files import write
from bot.render import Place
from bot.render.candidates import confidence_words
from bot.render.escape import clean
from bot.render.scan import FromFile, age, facts, heading, scan_markdown
from bot.render.scan_page import scan_page
from bot.scanning.model import Entry, Result
from bot.wiring.clients import now
from bot.words import english


def write_page(path: Path, found: Result, backlog: Backlog) -> None:
    """Write all groups into a page."""
    home = "" if backlog.names else f"{pages_of(backlog.settings.github_api_url)}/{backlog.name}"
    checked = f"Checked on {now().strftime('%Y-%m-%d %H:%M %Z').strip()}."
    write(path, scan_page(found, backlog.name, checked, home, backlog.names), "--html")
    click.echo(f"{path}: {_groups(len(found.groups))}", err=True)


def markdown(found: Result, backlog: Backlog) -> str:
    """The groups as a comment or an issue can hold them."""
    place = FromFile(backlog.names) if backlog.names else Place(backlog.name, backlog.settings.enterprise)
    return scan_markdown(found, place, english()).text


def to_json(found: Result, backlog: Backlog) -> dict[str, Any]:
    """The result for programs; an issue of a file has its own `id` besides its number in order of arrival."""
    result = found.to_json()
    if backlog.names:
        for group in result["groups"]:
            for issue in (group["original"], *group["members"]):
                issue["id"] = backlog.names[issue["number"]]
    return {"source": backlog.name} | result


def show(found: Result, limit: int, backlog: Backlog) -> None:
    """Print the first groups for a person; issues of a file by the names that they have there."""

    def title(entry: Entry) -> str:
        name = backlog.names[entry.number] if backlog.names else str(entry.number)
        return clean(f"{'#' if name.isdecimal() else ''}{name} {entry.title}")

    console, say = Console(highlight=False), english()

    def line(indent: int, text: str, style: str = "") -> None:
        # What is too long for a line goes on below its own beginning.
        console.print(Padding(Text(text, style=style), (0, 0, 0, indent), expand=False))

    console.print(Text(heading(found, say).replace("**", ""), style="bold"))
    for rank, group in enumerate(found.groups[:limit], 1):
        console.print(Text(f"\n{rank}. {title(group.original)}", style="bold"))
        line(3, f"{age(group.original, say)} · {facts(group, say)}", "dim")
        for member in group.members:
            line(3, title(member.entry))
            line(6, f"{confidence_words(member.confidence, say)} · {age(member.entry, say)}", "cyan")
            for reason in member.reasons:
                line(6, clean(str(reason)), "dim")
    if len(found.groups) > limit:
        console.print(f"\n… and {_groups(len(found.groups) - limit)} more; --limit, --json or --html shows them.")


def _groups(count: int) -> str:
    return f"{count:,} {'group' if count == 1 else 'groups'}"
