"""The command: what is judged, and how it was answered."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bot import settings as host
from bot.cli.shared.asking import asking_options, from_option, read_weights, seed_option
from bot.cli.shared.ending import ended_in_order
from bot.cli.shared.files import READ_FILE, WrittenFile, keep_apart, write
from bot.cli.shared.in_json import in_json
from bot.cli.shared.progress import progress_bar
from bot.cli.shared.shares import Share
from bot.cli.shared.source import complete_source, read_source
from bot.config.model import MIN_CONFIDENCE
from bot.errors import UserError
from bot.model import RepoRef

if TYPE_CHECKING:
    from bot.evaluation.judging import Found
    from bot.evaluation.metrics import Id
    from bot.evaluation.trial import Trial

_HOW_IT_IS_KNOWN = (
    'In a file `duplicate_of` names the original\'s id; in a repository it is known from "closed as duplicate" and '
    'from members\' comments "Duplicate of #N".'
)


@click.command()
@click.argument("source", shell_complete=complete_source)
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
@click.option("--picture", type=WrittenFile(), help="Draw them into this file, whose name ends in .svg.")
@click.option(
    "--min-confidence",
    type=Share(0, 1),
    default=None,
    show_default=f"{MIN_CONFIDENCE}; of a repository that this host knows, the one in force there",
    help="The threshold that is looked at first, as in .github/doppel.yml.",
)
@click.option("--sample", type=click.IntRange(3), help="Ask about so many arrivals, a third of them duplicates.")
@seed_option
@from_option("judged")
@click.option(
    "--answers",
    type=READ_FILE,
    help="Judge these answers, made by `doppel replay`, instead of asking.",
)
@click.option("--answered-only", is_flag=True, help="Leave out arrivals that --answers has no answer for.")
@click.option("--export", type=WrittenFile(), help="Write a repository's history here.")
@click.option("--fresh", is_flag=True, help="Read all of a repository's history again.")
@asking_options
def evaluate(
    source: str,
    as_json: bool,
    picture: Path | None,
    min_confidence: float | None,
    sample: int | None,
    seed: int,
    sources: tuple[str, ...],
    relevance: str,
    weights: Path | None,
    store: str,
    jobs: int | None,
    warm: float,
    answers: Path | None,
    answered_only: bool,
    export: Path | None,
    fresh: bool,
) -> None:
    """Say how well Doppel would have done with the issues of SOURCE.

    SOURCE is a file of past issues (JSON Lines, plain or gzipped, as for `doppel replay`) that says in duplicate_of
    which are duplicates of what, or OWNER/REPO, whose own history is read from GitHub: what was marked or closed as a
    duplicate, and what members named so in comments. Issues are asked about as they arrived; labels are used afterwards
    only. docs/evaluate.md says what the figures mean.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.cli.evaluate import shown
    from bot.evaluation.metrics import DEPTHS
    from bot.evaluation.trial import Trial, as_the_bot_asks
    from bot.feedback.decided import UNDECIDED
    from bot.render.picture import picture as draw
    from bot.replay import Asking
    from bot.wiring.evaluating import keep_evaluation, known_decided

    _check(picture, answers, answered_only, sample)
    for option, out in (("--picture", picture), ("--export", export)):
        keep_apart(option, out, *(one for one in (Path(source), answers, weights) if one is not None))
    given = read_source(source)
    repo = given if isinstance(given, RepoRef) else None
    if repo is None and (export is not None or fresh):
        raise UserError(f"{'--export' if export else '--fresh'}: {source} is a file; this is for OWNER/REPO")
    rows = _rows(given, export, fresh=fresh)
    try:
        decided = known_decided(host.load(), repo) if repo else UNDECIDED
        trial = Trial.of(rows, warm=warm, sample=sample, seed=seed, decided=decided)
    except UserError as reason:
        raise UserError(str(reason) if source in str(reason) else f"{source}: {reason}") from None
    _say_what_is_marked(trial, source, picture)
    asking = Asking(sources, max(DEPTHS), relevance=relevance, weights=read_weights(weights), store=store)
    if answers is not None:
        trial, found = _answered(trial, answers, source, picture, only=answered_only)
    else:
        with ended_in_order(), progress_bar("Issues arriving", len(trial.issues)) as (progress, task):
            found = trial.ask(asking, jobs, partial(progress.advance, task))
    if not any(issue.dated for issue in trial.issues):
        click.echo("created_at is null everywhere: they came in the order of their ids, and no month is one.", err=True)
    result = trial.judge(found, _bar(repo) if min_confidence is None else min_confidence)
    as_the_bot = answers is None and replace(asking, store="") == as_the_bot_asks()
    if as_the_bot and repo:
        keep_evaluation(host.load(), repo, result)
    if picture is not None:
        write(picture, draw(result, given.name if isinstance(given, Path) else source))
    if as_json:
        click.echo(json.dumps({"source": source} | result.to_json() | {"says": shown.says(result)}, indent=2))
    else:
        shown.show(result, {issue.id: issue.title for issue in trial.issues}, of_file=repo is None)


def _check(picture: Path | None, answers: Path | None, answered_only: bool, sample: int | None) -> None:
    """Refuse options that cannot be meant together, before anything takes time."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise UserError(f"--picture: {picture} does not end in .svg, the one format that is written")
    if answered_only and answers is None:
        raise UserError("--answered-only: there is nothing to leave out without --answers")
    if sample is not None and answers is not None:
        raise UserError("--sample: given answers cannot be sampled; --answered-only judges those of a sample")
    context = click.get_current_context()
    for option in ("weights", "sources", "relevance"):
        if answers is not None and context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            # The figures would be taken for those of the weights that were named.
            raise UserError(f"--{option}: nothing is asked where --answers are given; give it to `doppel replay`")


def _rows(given: Path | RepoRef, export: Path | None, *, fresh: bool) -> list[tuple[Any, str]]:
    """The rows of a file or of a repository, each with its place for error messages."""
    if isinstance(given, Path):
        from bot.replay.archive import read_rows

        return list(read_rows(given))
    from bot.cli.evaluate.history import history_of

    rows = history_of(given, fresh=fresh)
    if export is not None:
        write(export, "".join(in_json(row) + "\n" for row in rows))
    return [(row, f"{given}#{row['id']}") for row in rows]


def _bar(repo: RepoRef | None) -> float:
    """The threshold in force in a repository that this host knows; the usual one for anything else."""
    from bot.wiring.indexes import known_bar

    bar = known_bar(host.load(), repo) if repo else None
    return MIN_CONFIDENCE if bar is None else bar.value


def _say_what_is_marked(trial: Trial, source: str, picture: Path | None) -> None:
    """Tell of marks that are missing or lead nowhere, before anything takes time."""
    if not trial.marks.marked:
        if picture is not None:
            raise UserError(f"--picture: {source}: no issue is known to be a duplicate: there is nothing to draw")
        click.echo(f"{source}: no issue is known to be a duplicate. {_HOW_IT_IS_KNOWN}", err=True)
    if trial.marks.astray:
        (id, of), astray = next(iter(trial.marks.astray.items())), len(trial.marks.astray)
        click.echo(
            f"{source}: {astray:,} of {len(trial.marks.marked):,} duplicate_of are no other issue's id there, as "
            f"{of!r} of {id!r}; these issues are left out.",
            err=True,
        )
    if picture is not None and not any(trial.known.values()):
        raise UserError(f"--picture: {source}: no known duplicate can be judged: there is nothing to draw")


def _answered(
    trial: Trial, answers: Path, source: str, picture: Path | None, *, only: bool
) -> tuple[Trial, dict[Id, Found]]:
    """The answers that are there, and the trial, with `only` what they answer; tells of those that are missing."""
    from bot.evaluation import judging
    from bot.replay.archive import read_rows

    found = judging.answers(read_rows(answers), trial.issues)
    _say_what_is_missing(len(trial.only(found).chosen), len(trial.chosen))
    trial = trial.only(found) if only else trial
    if not trial.chosen:
        raise UserError(f"--answered-only: {answers} has no answer for an issue of {source} that can be judged")
    if picture is not None and not any(trial.known[place] for place in trial.chosen):
        raise UserError(f"--picture: {answers} has no answer for a known duplicate: there is nothing to draw")
    return trial, found


def _say_what_is_missing(given: int, wanted: int) -> None:
    if given < wanted:
        click.echo(
            f"{given:,} of {wanted:,} arrivals have an answer; the others count as if nothing had been found "
            "(--answered-only leaves them out).",
            err=True,
        )
