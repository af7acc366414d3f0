"""`doppel scan`: opens a repository's index or fills a temporary one from a file, finds matches, prints the groups."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markdown import Markdown

from bot.app.cli.shared.console import progress_bar, write
from bot.app.cli.shared.parameters import read_source
from bot.app.wiring.clients import now
from bot.app.wiring.indexes import build_backlog_matcher, build_index, fill_index, present_reactions
from bot.conversation.messages.catalogue import english
from bot.conversation.render.escape import RepoLinks
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.domain.formats import batches, counted
from bot.platform.addresses import pages_of
from bot.platform.settings import Settings
from bot.quality.replay.archive import indexed, read_archive
from bot.quality.replay.drivers import temporary_index_errors
from bot.quality.scanning.groups import ScanResult
from bot.quality.scanning.markdown import EVERYTHING, FileIssueNames, IssueNames, PageLinks, scan_markdown, scan_page
from bot.quality.scanning.scan import ReadReactions, Scan, match_in_processes
from bot.storage import Store, open_store
from bot.storage.repositories import Progress
from handlers.repositories import erased_if_ended

# The repository's id in the index of a file.
_FILE = 1


@dataclass(frozen=True, slots=True)
class IndexedSource:
    """The `store` with the index of SOURCE. The processes that compare issues open the same store with `settings`.

    For a file, `ids` maps each issue's number in the index to its id in the file. `reactions` asks
    GitHub for the reactions to issues; it is None if GitHub cannot be asked.
    """

    store: Store
    settings: Settings
    repo_id: int
    name: str
    ids: Mapping[int, str] | None = None
    reactions: ReadReactions | None = None


def open_source(source: str, settings: Settings) -> AbstractContextManager[IndexedSource]:
    """SOURCE with all its issues in an index. Raises UserError."""
    read = read_source(source)
    return _of_file(read, settings) if isinstance(read, Path) else _of_repository(read, settings)


@contextmanager
def _of_file(path: Path, settings: Settings) -> Iterator[IndexedSource]:
    with temporary_index_errors(), tempfile.TemporaryDirectory(prefix="doppel-") as directory:
        # The database is temporary, so do not wait for the disk.
        url = f"sqlite:///{Path(directory) / 'scan.db'}"
        used = settings.model_copy(update={"database_url": url, "sqlite_synchronous": "OFF"})
        archive = read_archive(path)
        with closing(open_store(used)) as store:
            index = build_index(used, store)
            with progress_bar("Reading issues", len(archive)) as (progress, task):
                for part in batches(indexed(archive), 1_000):
                    index.put(_FILE, part)
                    progress.advance(task, len(part))
            ids = {number: str(one.id) for number, one in enumerate(archive, 1)}
            yield IndexedSource(store, used, _FILE, path.name, ids)


@contextmanager
def _of_repository(repo: RepoRef, settings: Settings) -> Iterator[IndexedSource]:
    """A repository; its index is brought up to date if GitHub can be asked."""
    with closing(open_store(settings)) as store:
        known, reactions = store.repositories.by_name(repo), None
        if known and store.backfills.complete(known.id) and not (settings.github_token or settings.app_id):
            used_as_it_is = "the index is used as it is; with GITHUB_TOKEN it would be brought up to date."
            click.echo(f"{known.ref}: {used_as_it_is}", err=True)
            repo_id, ref = known.id, known.ref
        else:
            repo_id, ref = _fill(repo, store, settings)
            reactions = partial(present_reactions, settings, ref)
        # If the App's access ends during the block, erase what the block has stored.
        with erased_if_ended(repo_id, store):
            yield IndexedSource(store, settings, repo_id, str(ref), reactions=reactions)


def _fill(repo: RepoRef, store: Store, settings: Settings) -> tuple[int, RepoRef]:
    """Read a repository's new issues into its index; return its id and name. Raises UserError."""
    with progress_bar("Reading issues", None) as (progress, task):

        def advance(at: Progress) -> None:
            total = None if at.expected is None else max(at.expected, at.seen)
            progress.update(task, completed=at.seen, total=total)

        summary, reached = fill_index(settings, store, repo, time.sleep, advance)
    if reached is None or not reached.done:
        problem = reached.problem if reached and reached.problem else "something else is reading it just now"
        raise UserError(
            f"{summary.ref}: not all issues could be read ({problem}). What was read is kept: run it again."
        )
    return summary.id, summary.ref


def compared(backlog: IndexedSource, closed: bool, fresh: bool, processes: int, weights: str) -> Scan:
    """Compare the issues that have no valid stored answer, or with `fresh` all issues. `closed` adds closed issues."""
    make_matcher = partial(build_backlog_matcher, backlog.settings, weights)
    scan = Scan(backlog.store, make_matcher(backlog.store), backlog.repo_id, closed=closed)
    scan.begin(fresh=fresh)
    numbers = scan.missing()
    with progress_bar("Comparing issues", len(numbers)) as (progress, task):
        for answers in match_in_processes(make_matcher, backlog.repo_id, numbers, processes):
            scan.put(answers)
            progress.advance(task, len(answers))
    return scan


def write_page(path: Path, found: ScanResult, backlog: IndexedSource) -> None:
    write(path, scan_page(found, _issue_names(backlog), backlog.name, now()), "--html")
    click.echo(f"{path}: {counted(len(found.groups), 'group')}", err=True)


def as_markdown(found: ScanResult, backlog: IndexedSource) -> str:
    """The groups as Markdown for an issue on GitHub. The linked issues get no back-link to that issue."""
    links = FileIssueNames(backlog.ids) if backlog.ids else RepoLinks(backlog.name, backlog.settings.enterprise)
    return scan_markdown(found, links, english())


def show(found: ScanResult, most: int, backlog: IndexedSource) -> None:
    """Print the first groups for a person; issues of a file are named by their ids in the file."""
    Console().print(Markdown(scan_markdown(found, _issue_names(backlog), english(), EVERYTHING, most)))
    if len(found.groups) > most:
        more = counted(len(found.groups) - most, "group")
        click.echo(f"\n… and {more} more; --limit, --json or --html shows them.")


def _issue_names(backlog: IndexedSource) -> IssueNames:
    address = f"{pages_of(backlog.settings.github_api_url)}/{backlog.name}"
    return FileIssueNames(backlog.ids) if backlog.ids else PageLinks(address)


def to_json(found: ScanResult, backlog: IndexedSource) -> dict[str, Any]:
    """The result for programs. Issues of a file also have an `id`; `number` is their place in the order of arrival."""
    result = found.to_json()
    if backlog.ids:
        for group in result["groups"]:
            for issue in (group["original"], *group["members"]):
                issue["id"] = backlog.ids[issue["number"]]
    return {"source": backlog.name} | result
