"""The command: what is looked through, and how."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.shared.database import settings_with
from bot.cli.shared.ending import ended_in_order
from bot.cli.shared.files import READ_FILE, WrittenFile, keep_apart
from bot.cli.shared.in_json import in_json
from bot.cli.shared.progress import progress_bar
from bot.cli.shared.shares import Share
from bot.cli.shared.source import complete_source
from bot.scanning.groups import THRESHOLD

if TYPE_CHECKING:
    from bot.cli.scan.backlog import Backlog
    from bot.scanning.scan import Scan


@click.command()
@click.argument("source", shell_complete=complete_source)
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
    type=READ_FILE,
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
    from bot.cli.scan import shown
    from bot.cli.scan.backlog import backlog_of
    from bot.cli.shared.asking import read_weights
    from bot.cli.shared.given import told_of_option
    from bot.scanning.files import without_dates

    settings, judging = settings_with("--store", store), read_weights(weights)
    # A file's issues lie in a database of their own meanwhile, which must not outlive the command.
    telling = told_of_option("--store") if store else nullcontext()
    with ended_in_order(), telling, backlog_of(source, settings, stored=bool(store)) as backlog:
        scan = _scan(backlog, include_closed, fresh, processes or os.cpu_count() or 1, judging)
        if backlog.reactions is not None:
            scan.count_reactions(backlog.reactions, confidence)
        found = without_dates(scan.result(confidence), backlog.undated)
    if html is not None:
        shown.write_page(html, found, backlog)
    if as_json:
        click.echo(in_json(shown.to_json(found, backlog), indent=2))
    elif markdown:
        click.echo(shown.markdown(found, backlog))
    else:
        shown.show(found, limit, backlog)


def _scan(backlog: Backlog, closed: bool, fresh: bool, processes: int, weights: str) -> Scan:
    """Ask about every issue that has no answer yet; without `weights` those judge that Doppel comes with."""
    from bot.scanning.processes import ask_in_processes
    from bot.scanning.scan import Scan
    from bot.wiring.indexes import build_asker

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
