"""`doppel replay`: run past issues through the finder, in order of arrival."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from bot.app.cli.shared.console import cleanup_on_signal, file_errors, opened, progress_bar, refuse_overwriting
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
from bot.quality.replay.archive import read_archive
from bot.quality.replay.drivers import replay_index, replay_search
from bot.quality.replay.replay import INDEX, SEARCH, ReplayOptions, choose_arrivals
from bot.search.ranking.plan import DEFAULT_BUDGET

_OUT = "Write the answers to this file; compressed if its name ends in .gz."
_SAMPLE = (
    "Ask about only this many arrivals, chosen at random. This shortens the asking, not the reading: every issue still "
    "arrives."
)
_BUDGET = "The number of word searches for each issue."
_INDEX = "index"
_SOURCES = (_INDEX, *INDEX, *SEARCH)


def _read_sources(_context: click.Context, _option: click.Parameter, value: str) -> tuple[str, ...]:
    """Read the option `--sources`: sources of the index, or searches. Raises BadParameter naming the choices."""
    given = tuple(name.strip() for name in value.split(","))
    if unknown := [name for name in given if name not in _SOURCES]:
        raise click.BadParameter(f"there is no source {unknown[0]!r}; there are: {', '.join(_SOURCES)}")
    names = tuple(dict.fromkeys(name for one in given for name in (INDEX if one == _INDEX else (one,))))
    if len({name in SEARCH for name in names}) > 1:
        raise click.BadParameter(f"sources of the index and {' or '.join(SEARCH)} are replayed apart")
    if SEARCH[1] in names and SEARCH[0] not in names:
        raise click.BadParameter(f"{SEARCH[1]} needs {SEARCH[0]}")
    return names


_WHERE = f"Where to look, separated by commas: {', '.join(_SOURCES)}."
replay_options = options(
    click.option("--sources", default=_INDEX, show_default=True, callback=_read_sources, help=_WHERE),
    relevance_option("How to sort candidates."),
    weights_option("rank"),
    click.option("--jobs", type=ONE_OR_MORE, help="Processes that share the work [default: one for each processor]."),
)


@click.command()
@click.argument("issues", type=READ_FILE)
@click.option("--out", type=WrittenFile(), required=True, help=_OUT)
@from_option("asked about")
@click.option(
    "--top", type=ONE_OR_MORE, default=20, show_default=True, help="Write at most this many candidates for each issue."
)
@click.option("--sample", type=ONE_OR_MORE, help=_SAMPLE)
@seed_option
@click.option("--threshold", type=SHARE, default=0.0, show_default=True, help="The least similarity of titles.")
@click.option("--budget", type=click.IntRange(1, 10), default=DEFAULT_BUDGET, show_default=True, help=_BUDGET)
@replay_options
def replay(
    issues: Path,
    out: Path,
    sources: tuple[str, ...],
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

    Sources are either those of an index (full-text and vectors; `index` means both), or GitHub's searches, simulated.
    """
    refuse_overwriting("--out", out, issues, weights)
    past = read_archive(issues)
    asked = set(choose_arrivals(past, warm, sample, seed))
    asking = ReplayOptions(sources, top, threshold, relevance, read_weights(weights), budget)
    run = partial(replay_index, jobs=jobs) if asking.indexed else replay_search
    answered = 0
    try:
        bar = progress_bar("Issues arriving", len(past))
        with file_errors(out), cleanup_on_signal(), opened(out) as lines, bar as (progress, task):
            for answer in run(past, asked, asking, advance=partial(progress.advance, task)):
                if answer is not None:
                    candidates = [{"id": id, "confidence": round(sure, 6)} for id, sure in answer.candidates]
                    # Write ASCII, because an id can hold characters that UTF-8 cannot encode.
                    lines.write(json.dumps({"id": answer.id, "candidates": candidates}) + "\n")
                    answered += 1
    except KeyboardInterrupt:
        click.echo(f"{out} is unfinished: it holds {answered} of {len(asked)} answers", err=True)
        raise
    click.echo(f"{len(asked)} of {len(past)} issues asked about; the answers are in {out}", err=True)
