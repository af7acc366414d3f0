"""`doppel replay`: run past issues through the finder, in order of arrival."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from bot.app.cli.shared.console import file_errors, progress_bar, refuse_overwriting
from bot.app.cli.shared.parameters import (
    ONE_OR_MORE,
    READ_FILE,
    SHARE,
    WrittenFile,
    from_option,
    options,
    read_weights,
    relevance_option,
    seed_option,
    weights_option,
)
from bot.platform.private_files import opened
from bot.platform.signals import cleanup_on_signal
from bot.quality.evaluation.measures import Id
from bot.quality.evaluation.trial import Found
from bot.quality.replay.archive import read_archive
from bot.quality.replay.drivers import replayed
from bot.quality.replay.replay import INDEX, SEARCH, ReplayOptions, choose_arrivals
from bot.search.ranking.plan import DEFAULT_BUDGET

_OUT = "Write the answers to this file; compressed if its name ends in .gz."
_SAMPLE = "Ask about only this many arrivals, chosen at random; every issue still arrives."
_BUDGET = "The number of word searches for each issue."
_WHERE = "Where to look: in an index (full-text and vectors), or with GitHub's searches, simulated."
SOURCES = {"index": INDEX, **{name: (name,) for name in (*INDEX, SEARCH[0])}, ",".join(SEARCH): SEARCH}
"""Maps values of `--sources` to sources: both of the index, one source (not SEARCH[1]), or both GitHub searches."""

replay_options = options(
    click.option("--sources", type=click.Choice(SOURCES), default="index", show_default=True, help=_WHERE),
    relevance_option("How to sort candidates."),
    weights_option("rank"),
    click.option("--jobs", type=ONE_OR_MORE, help="Processes that share the work [default: one for each processor]."),
)


@click.command()
@click.argument("issues", type=READ_FILE)
@click.option("--out", type=WrittenFile(), required=True, help=_OUT)
@from_option(verb="asked about")
@click.option("--top", type=ONE_OR_MORE, default=20, show_default=True, help="The most candidates for each issue.")
@click.option("--sample", type=ONE_OR_MORE, help=_SAMPLE)
@seed_option
@click.option("--threshold", type=SHARE, default=0.0, show_default=True, help="Minimum title similarity of candidates.")
@click.option("--budget", type=click.IntRange(1, 10), default=DEFAULT_BUDGET, show_default=True, help=_BUDGET)
@replay_options
def replay(
    issues: Path,
    out: Path,
    sources: str,
    warm: float,
    top: int,
    sample: int | None,
    seed: int,
    relevance: str,
    threshold: float,
    budget: int,
    weights: Path | None,
    jobs: int | None,
) -> None:
    """Run the issues of a file through the finder, in order of arrival.

    Each line of ISSUES is a JSON object (id, title, body, created_at, closed_at, …), plain or gzipped. --out gets one
    line for each issue asked about: {"id", "candidates": [{"id", "confidence"}]}, best candidate first. The finder sees
    only what was known when the issue arrived; labels of duplicates in the file are never read.
    """
    refuse_overwriting("--out", out, issues, weights)
    archive = read_archive(issues)
    chosen = set(choose_arrivals(archive, warm, sample, seed))
    how = ReplayOptions(SOURCES[sources], top, threshold, relevance, read_weights(weights), budget)
    bar, answered = progress_bar("Issues arriving", len(archive)), 0
    try:
        with file_errors(out), cleanup_on_signal(), opened(out) as lines, bar as (progress, task):
            for answer in replayed(archive, chosen, how, jobs, partial(progress.advance, task)):
                lines.write(answer_row(answer.id, answer.candidates))
                answered += 1
    except KeyboardInterrupt:
        click.echo(f"{out} is unfinished: it holds {answered} of {len(chosen)} answers", err=True)
        raise
    click.echo(f"{len(chosen)} of {len(archive)} issues asked about; the answers are in {out}", err=True)


def answer_row(id: Id, candidates: Found) -> str:
    """A line of a file of answers. It is ASCII, because an id can hold characters that UTF-8 cannot encode."""
    rows = [{"id": candidate, "confidence": round(confidence, 6)} for candidate, confidence in candidates]
    return json.dumps({"id": id, "candidates": rows}) + "\n"
