"""`doppel scan`: groups of issues in a backlog that report the same thing."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot import settings as host
from bot.cli.shared.ending import ended_in_order
from bot.cli.shared.files import WrittenFile, keep_apart
from bot.cli.shared.out_of_sight import told_if_out_of_sight
from bot.cli.shared.progress import progress_bar
from bot.cli.shared.shares import Share
from bot.errors import InvalidArgument, UserError
from bot.model import RepoRef
from bot.scanning.groups import THRESHOLD
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.scanning.model import Entry, Result
    from bot.scanning.scan import ReadReactions, Scan
    from bot.store import Store

# The one repository of a file's index.
_FILE = 1


@click.command()
@click.argument("source")
@click.option("--include-closed", is_flag=True, help="Look through closed issues too, but for closed duplicates.")
@click.option(
    "--confidence",
    type=Share(0.05, 1),
    default=THRESHOLD,
    show_default=True,
    help="How likely every two of a group must be the same.",
)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="The most groups in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print all groups as JSON.")
@click.option("--markdown", is_flag=True, help="Print them in Markdown, as much as an issue can hold.")
@click.option("--html", type=WrittenFile(), help="Write all groups into a page.")
@click.option("--store", help="The database whose index is used, without a password [default: DATABASE_URL].")
@click.option("--fresh", is_flag=True, help="Ask about every issue again, not only about what has changed.")
@click.option("--processes", type=click.IntRange(1, 64), help="How many ask at once [default: one a core].")
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Weights to judge with [default: those that Doppel comes with].",
)
def scan(
    source: str,
    include_closed: bool,
    confidence: float,
    limit: int,
    as_json: bool,
    markdown: bool,
    html: Path | None,
    store: str | None,
    fresh: bool,
    processes: int | None,
    weights: Path | None,
) -> None:
    """Look through all open issues of SOURCE for groups that report the same thing.

    SOURCE is OWNER/REPO, whose issues are taken from the index in the store – read into it first, as far as they are
    not there, as the App or with GITHUB_TOKEN –, or a file of issues (JSON Lines, plain or gzipped, as for `doppel
    replay`), whose labels are not read. Nothing is written on GitHub. It can be stopped and goes on where it was.
    docs/scan.md says how groups are made and ordered.
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown: one of them, the other can be a second call")
    keep_apart("--html", html, Path(source), *([weights] if weights else []))
    # NumPy and the models, which `doppel --help` need not pay for.
    from bot.cli.shared.asking import read_weights
    from bot.replay.asking import INDEX
    from bot.scanning.files import without_dates

    settings, judging = _settings(store), read_weights(weights, INDEX)
    # A file's issues lie in a database of their own meanwhile, which must not outlive the command.
    with ended_in_order(), _opened(source, settings) as there:
        scan = _scan(there, include_closed, fresh, processes or os.cpu_count() or 1, judging)
        if there.reactions is not None:
            scan.count_reactions(there.reactions, confidence)
        found = without_dates(scan.result(confidence), there.undated)
    if html is not None:
        _write_page(html, found, there)
    if as_json:
        click.echo(json.dumps({"source": there.name} | _json(found, there.names), ensure_ascii=False, indent=2))
    elif markdown:
        click.echo(_markdown(found, there))
    else:
        show(found, limit, there.names)


@dataclass(frozen=True, slots=True)
class _There:
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


def _settings(store: str | None) -> Settings:
    return host.load() if store is None else host.load({**os.environ, "DATABASE_URL": store})


@contextmanager
def _opened(source: str, settings: Settings) -> Iterator[_There]:
    from bot.erasing import erased_if_ended
    from bot.store import open_store
    from bot.wiring.indexes import present_reactions

    if Path(source).is_file():
        with tempfile.TemporaryDirectory(prefix="doppel-") as directory:
            # Nothing of it is kept, so nothing waits for the disk.
            url = f"sqlite:///{Path(directory) / 'scan.db'}"
            used = replace(settings, database_url=url, sqlite_synchronous="OFF")
            with closing(open_store(used)) as opened:
                names, undated = _index_file(Path(source), opened, used)
                yield _There(opened, used, _FILE, Path(source).name, names, undated)
        return
    try:
        repo = RepoRef.parse(source)
    except InvalidArgument:
        raise UserError(f"{source}: there is no such file, and it is not of the form OWNER/REPO") from None
    if source.endswith((".jsonl", ".gz", ".json")):
        raise UserError(f"{source}: there is no such file")
    with closing(open_store(settings)) as opened:
        repo_id, name = _index_repository(repo, opened, settings)
        with erased_if_ended(repo_id, opened):
            asks = bool(settings.github_token or settings.app_id)
            reactions = partial(present_reactions, settings, opened, RepoRef.parse(name)) if asks else None
            yield _There(opened, settings, repo_id, name, reactions=reactions)


def _index_file(path: Path, store: Store, settings: Settings) -> tuple[dict[int, str], frozenset[int]]:
    """Put a file's issues into the index; the names that they have in the file, by their numbers, and which of them
    have no date there.
    """
    from bot.replay.archive import read_archive
    from bot.scanning.files import indexed
    from bot.wiring.indexes import build_index

    archive = read_archive(path)
    issues = indexed(archive)
    index = build_index(settings, store)
    with _progress("Reading issues", len(issues)) as advance:
        for start in range(0, len(issues), 1_000):
            part = issues[start : start + 1_000]
            index.put(_FILE, part)
            advance(len(part))
    numbered = list(enumerate(archive, 1))
    return {at: str(one.id) for at, one in numbered}, frozenset(at for at, one in numbered if not one.dated)


def _index_repository(repo: RepoRef, store: Store, settings: Settings) -> tuple[int, str]:
    """Have all issues of a repository in the index; its id and its name.

    Without a way to GitHub a complete index is used as it is. Raises UserError where there is none.
    """
    from bot.wiring.indexes import fill_index

    known = store.repositories.by_name(repo)
    if known and store.backfills.complete(known.id) and not (settings.github_token or settings.app_id):
        click.echo(
            f"{known.ref}: the index is used as it is; with GITHUB_TOKEN it would be brought up to date.", err=True
        )
        return known.id, str(known.ref)
    with told_if_out_of_sight(repo), _progress("Reading issues", None) as advance:
        summary, reached = fill_index(
            settings, store, repo, time.sleep, lambda at: advance(at.seen, at.expected, absolute=True)
        )
    if reached is None or not reached.done:
        problem = reached.problem if reached and reached.problem else "something else is reading it just now"
        raise UserError(
            f"{summary.ref}: not all issues could be read ({problem}). What was read is kept: run it again."
        )
    return summary.id, str(summary.ref)


def _scan(there: _There, closed: bool, fresh: bool, processes: int, weights: str) -> Scan:
    """Ask about every issue that has no answer yet; without `weights` those judge that Doppel comes with."""
    from bot.scanning.processes import ask_in_processes
    from bot.scanning.scan import Scan
    from bot.wiring.indexes import build_asker

    make = partial(build_asker, there.settings, weights)
    scan = Scan(there.store, make(there.store), there.repo_id, closed=closed)
    scan.begin(fresh=fresh)
    numbers = scan.missing()
    with _progress("Comparing issues", len(numbers)) as advance:
        for answers in ask_in_processes(make, there.repo_id, numbers, processes):
            scan.keep(answers)
            advance(len(answers))
    return scan


def _write_page(path: Path, found: Result, there: _There) -> None:
    from bot.render.links import pages_of
    from bot.render.scan_page import scan_page
    from bot.wiring.clients import now

    home = "" if there.names else f"{pages_of(there.settings.github_api_url)}/{there.name}"
    checked = f"Checked on {now().strftime('%Y-%m-%d %H:%M %Z').strip()}."
    try:
        path.write_text(scan_page(found, there.name, checked, home, there.names), encoding="utf-8")
    except OSError as problem:
        raise UserError(f"--html: {path}: {problem.strerror}") from None
    click.echo(f"{path}: {len(found.groups)} groups", err=True)


def _markdown(found: Result, there: _There) -> str:
    from bot.render import Place
    from bot.render.scan import FromFile, scan_markdown
    from bot.words import english

    place = FromFile(there.names) if there.names else Place(there.name, there.settings.enterprise)
    return scan_markdown(found, place, english()).text


def _json(found: Result, names: Mapping[int, str] | None) -> dict[str, Any]:
    """The result for programs; an issue of a file has its own `id` besides its number in order of arrival."""
    result = found.to_json()
    for group in result["groups"] if names else ():
        for issue in (group["original"], *group["members"]):
            issue["id"] = (names or {})[issue["number"]]
    return result


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[..., Any]]:
    with progress_bar(what, total) as (progress, task):

        def advance(count: int, total: int | None = None, *, absolute: bool = False) -> None:
            if absolute:
                progress.update(task, completed=count, total=None if total is None else max(total, count))
            else:
                progress.advance(task, count)

        yield advance


def show(found: Result, limit: int, names: Mapping[int, str] | None = None) -> None:
    """Print the first groups for a person; issues of a file by their `names`."""
    from bot.render.candidates import confidence_words
    from bot.render.escape import clean
    from bot.render.scan import age, facts, heading
    from bot.words import english

    def title(entry: Entry) -> str:
        return clean(f"{names[entry.number] if names else f'#{entry.number}'} {entry.title}")

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
                line(6, clean(reason), "dim")
    if len(found.groups) > limit:
        console.print(f"\n… and {len(found.groups) - limit:,} groups more; --limit, --json or --html shows them.")
