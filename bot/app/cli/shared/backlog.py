"""What `doppel scan` looks through: the issues of SOURCE in an index, a file's in one of its own; and what it shows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.app.cli.shared.files import write
from bot.app.cli.shared.options import read_source
from bot.app.cli.shared.running import explain_if_inaccessible, progress_bar, told_of_temporary_index
from bot.app.wiring.clients import now
from bot.app.wiring.indexes import build_asker, build_index, fill_index, present_reactions
from bot.conversation.messages.catalogue import english
from bot.conversation.render.comment import confidence_words
from bot.conversation.render.escape import RepoLinks, clean
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.domain.formats import batches, counted
from bot.platform.addresses import pages_of
from bot.platform.settings import Settings
from bot.quality.render.scan import FromFile, age, facts, heading, scan_markdown, scan_page
from bot.quality.replay.archive import read_archive
from bot.quality.scanning.asking import ask_in_processes
from bot.quality.scanning.files import indexed
from bot.quality.scanning.pairs import Entry, Result
from bot.quality.scanning.scan import ReadReactions, Scan
from bot.storage import Store, open_store
from bot.storage.repositories import Progress
from handlers.repositories import erased_if_ended

# The one repository of a file's index.
_FILE = 1


def compared(backlog: Backlog, closed: bool, fresh: bool, processes: int, weights: str) -> Scan:
    """Ask about every issue that has no answer yet; without `weights` those judge that Doppel comes with."""
    make = partial(build_asker, backlog.settings, weights)
    scan = Scan(backlog.store, make(backlog.store), backlog.repo_id, closed=closed)
    scan.begin(fresh=fresh)
    numbers = scan.missing()
    with progress_bar("Comparing issues", len(numbers)) as (progress, task):
        for answers in ask_in_processes(make, backlog.repo_id, numbers, processes):
            scan.keep(answers)
            progress.advance(task, len(answers))
    if numbers:
        scan.ask_again()
    return scan


@dataclass(frozen=True, slots=True)
class Backlog:
    """The store with the index of SOURCE, the settings that open it again, the repository's id and its name.

    A file's issues have `names`, by their numbers; of the `undated` ones it has no time. Where GitHub can be asked,
    `reactions` counts those to issues.
    """

    store: Store
    settings: Settings
    repo_id: int
    name: str
    names: Mapping[int, str] | None = None
    undated: frozenset[int] = frozenset()
    reactions: ReadReactions | None = None


@contextmanager
def backlog_of(source: str, settings: Settings, *, stored: bool) -> Iterator[Backlog]:
    """The backlog of SOURCE, all of which is in the index. Raises UserError where it cannot be.

    With `stored` the settings name a database that was asked for, which a file's issues have no use for.
    """
    read = read_source(source)
    if stored and isinstance(read, Path):
        raise UserError(f"--store: {source} is a file; this is for OWNER/REPO")
    with _of_file(read, settings) if isinstance(read, Path) else _of_repository(read, settings) as backlog:
        yield backlog


@contextmanager
def _of_file(path: Path, settings: Settings) -> Iterator[Backlog]:
    with told_of_temporary_index(), tempfile.TemporaryDirectory(prefix="doppel-") as directory:
        # Nothing of it is kept, so nothing waits for the disk.
        url = f"sqlite:///{Path(directory) / 'scan.db'}"
        used = settings.model_copy(update={"database_url": url, "sqlite_synchronous": "OFF"})
        with closing(open_store(used)) as store:
            names, undated = _index_file(path, store, used)
            yield Backlog(store, used, _FILE, path.name, names, undated)


@contextmanager
def _of_repository(repo: RepoRef, settings: Settings) -> Iterator[Backlog]:
    with closing(open_store(settings)) as store:
        repo_id, name = _index_repository(repo, store, settings)
        with erased_if_ended(repo_id, store):
            asks = bool(settings.github_token or settings.app_id)
            reactions = partial(present_reactions, settings, store, RepoRef.parse(name)) if asks else None
            yield Backlog(store, settings, repo_id, name, reactions=reactions)


def _index_file(path: Path, store: Store, settings: Settings) -> tuple[dict[int, str], frozenset[int]]:
    """Put a file's issues into the index; the names that they have in the file, by their numbers, and which of them
    have no date there.
    """
    archive = read_archive(path)
    issues = indexed(archive)
    index = build_index(settings, store)
    with progress_bar("Reading issues", len(issues)) as (progress, task):
        for part in batches(issues, 1_000):
            index.put(_FILE, part)
            progress.advance(task, len(part))
    numbered = list(enumerate(archive, 1))
    return {at: str(one.id) for at, one in numbered}, frozenset(at for at, one in numbered if not one.dated)


def _index_repository(repo: RepoRef, store: Store, settings: Settings) -> tuple[int, str]:
    """Have all issues of a repository in the index; its id and its name.

    Without a way to GitHub a complete index is used as it is. Raises UserError where there is none.
    """
    known = store.repositories.by_name(repo)
    if known and store.backfills.complete(known.id) and not (settings.github_token or settings.app_id):
        click.echo(
            f"{known.ref}: the index is used as it is; with GITHUB_TOKEN it would be brought up to date.", err=True
        )
        return known.id, str(known.ref)
    with explain_if_inaccessible(repo), progress_bar("Reading issues", None) as (progress, task):

        def advance(at: Progress) -> None:
            total = None if at.expected is None else max(at.expected, at.seen)
            progress.update(task, completed=at.seen, total=total)

        summary, reached = fill_index(settings, store, repo, time.sleep, advance)
    if reached is None or not reached.done:
        problem = reached.problem if reached and reached.problem else "something else is reading it just now"
        raise UserError(
            f"{summary.ref}: not all issues could be read ({problem}). What was read is kept: run it again."
        )
    return summary.id, str(summary.ref)


def write_page(path: Path, found: Result, backlog: Backlog) -> None:
    """Write all groups into a page."""
    home = "" if backlog.names else f"{pages_of(backlog.settings.github_api_url)}/{backlog.name}"
    checked = f"Checked on {now().strftime('%Y-%m-%d %H:%M %Z').strip()}."
    write(path, scan_page(found, backlog.name, checked, home, backlog.names), "--html")
    click.echo(f"{path}: {counted(len(found.groups), 'group')}", err=True)


def as_markdown(found: Result, backlog: Backlog) -> str:
    """The groups as a comment or an issue can hold them."""
    place = FromFile(backlog.names) if backlog.names else RepoLinks(backlog.name, backlog.settings.enterprise)
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
        console.print(
            f"\n… and {counted(len(found.groups) - limit, 'group')} more; --limit, --json or --html shows them."
        )
