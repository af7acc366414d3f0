"""`doppel scan`: groups of issues in a backlog that report the same thing."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bot.app.cli.shared.console import echo_json, refuse_overwriting
from bot.app.cli.shared.parameters import (
    ONE_OR_MORE,
    Share,
    WrittenFile,
    json_option,
    read_weights,
    source_argument,
    weights_option,
)
from bot.platform import settings as host
from bot.platform.signals import cleanup_on_signal
from bot.quality.scanning.groups import THRESHOLD

_CONFIDENCE = "Any two issues in a group are the same with at least this probability."


@click.command()
@source_argument
@click.option("--include-closed", is_flag=True, help="Include closed issues, except those closed as duplicates.")
@click.option("--confidence", type=Share(0.05, 1), default=THRESHOLD, show_default=True, help=_CONFIDENCE)
@click.option(
    "--limit", type=ONE_OR_MORE, default=20, show_default=True, help="Show at most this many groups in the terminal."
)
@json_option
@click.option("--markdown", is_flag=True, help="Print Markdown, as many groups as fit into an issue.")
@click.option("--html", type=WrittenFile(), help="Write all groups to this file, as a web page.")
@click.option("--fresh", is_flag=True, help="Ask about every issue again, not only about changed issues.")
@click.option(
    "--processes", type=click.IntRange(1, 64), help="Processes that share the work [default: one for each core]."
)
@weights_option("judge")
def scan(
    source: str,
    include_closed: bool,
    confidence: float,
    limit: int,
    as_json: bool,
    markdown: bool,
    html: Path | None,
    fresh: bool,
    processes: int | None,
    weights: Path | None,
) -> None:
    """Look through all open issues of SOURCE for groups that report the same thing.

    SOURCE is OWNER/REPO or a file of issues (JSON Lines, plain or gzipped, as for `doppel replay`). The issues of a
    repository come from the index in DATABASE_URL. The scan first reads missing issues from GitHub, with the App's
    credentials or GITHUB_TOKEN. Labels in a file are not read. Nothing is written on GitHub. A stopped scan continues
    at the next call. docs/scan.md says how groups are made and ordered.
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown: give only one of them in each call")
    refuse_overwriting("--html", html, Path(source), weights)
    from bot.app.cli.shared import scan_backlog

    settings, weights_text = host.load(), read_weights(weights)
    # A file's issues are put into a temporary database, which must not outlive the command.
    with cleanup_on_signal(), scan_backlog.open_source(source, settings) as backlog:
        scan = scan_backlog.compared(backlog, include_closed, fresh, processes or os.cpu_count() or 1, weights_text)
        if backlog.reactions is not None:
            scan.count_reactions(backlog.reactions, confidence)
        found = scan.result(confidence)
    if html is not None:
        scan_backlog.write_page(html, found, backlog)
    if as_json:
        echo_json(scan_backlog.to_json(found, backlog))
    elif markdown:
        click.echo(scan_backlog.as_markdown(found, backlog))
    else:
        scan_backlog.show(found, limit, backlog)
