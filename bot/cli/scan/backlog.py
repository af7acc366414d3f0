"""The issues of SOURCE in an index, where they can be compared: a file's in one of its own, which is deleted again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from bot.batches import batches
from bot.cli.shared.out_of_sight import told_if_out_of_sight
from bot.cli.shared.progress import progress_bar
from bot.cli.shared.source import read_source
from bot.cli.shared.temporary import told_of_temporary_index
from bot.erasing import erased_if_ended
from bot.errors import UserError
from bot.model import RepoRef
from bot.replay.archive import read_archive
from bot.scanning.files import indexed
from bot.scanning.scan import ReadReactions
from bot.settings import Settings
from bot.store import Store, open_store
from bot.store.parts.repositories import Progress
from bot.wiring.indexes import build_index, fill_index, present_reactions

# The one repository of a file's index.
_FILE = 1


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
    with told_if_out_of_sight(repo), progress_bar("Reading issues", None) as (progress, task):

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
