"""`doppel evaluate`: how well Doppel would have done, from duplicates that people marked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import settings as host
from bot.cli.shared.asking import asking_options, read_weights
from bot.cli.shared.ending import ended_in_order
from bot.cli.shared.files import WrittenFile, keep_apart, opened
from bot.cli.shared.out_of_sight import told_if_out_of_sight
from bot.cli.shared.progress import progress_bar
from bot.cli.shared.shares import Share
from bot.config.model import MIN_CONFIDENCE
from bot.errors import InvalidArgument, RateLimited, Unavailable, UserError
from bot.model import RepoRef
from bot.render.escape import clean

if TYPE_CHECKING:
    from bot.evaluation.report import Evaluation

_WIDTH = 80
_HOW_IT_IS_KNOWN = (
    'In a file `duplicate_of` names the original\'s id; in a repository it is known from "closed as duplicate" and '
    'from members\' comments "Duplicate of #N".'
)


@click.command()
@click.argument("source")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
@click.option("--picture", type=WrittenFile(), help="Draw them into FILE.svg.")
@click.option(
    "--min-confidence",
    type=Share(0, 1),
    default=None,
    show_default=f"{MIN_CONFIDENCE}; of a repository that this host knows, the one in force there",
    help="The threshold that is looked at first, as in .github/doppel.yml.",
)
@click.option("--sample", type=click.IntRange(3), help="Ask about so many arrivals, a third of them duplicates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")
@click.option(
    "--from",
    "warm",
    type=Share(0, 1),
    default=0.2,
    show_default=True,
    help="The share of issues that only arrive, before the first is judged.",
)
@click.option(
    "--answers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
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
    from bot.evaluation import judging
    from bot.evaluation.metrics import DEPTHS
    from bot.evaluation.trial import NothingKnown, Trial, as_the_bot_asks
    from bot.render.picture import picture as draw
    from bot.replay import Asking
    from bot.replay.archive import read_rows
    from bot.wiring.evaluating import keep_evaluation, rejected_pairs

    _check(picture, answers, answered_only, sample)
    for option, out in (("--picture", picture), ("--export", export)):
        keep_apart(option, out, *(one for one in (Path(source), answers, weights) if one is not None))
    rows = _rows(source, export, fresh=fresh)
    try:
        trial = Trial.of(rows, warm=warm, sample=sample, seed=seed)
    except NothingKnown as reason:
        raise UserError(f"{source}: {reason}. {_HOW_IT_IS_KNOWN}") from None
    except UserError as reason:
        raise UserError(str(reason) if source in str(reason) else f"{source}: {reason}") from None
    asking = Asking(sources, max(DEPTHS), relevance=relevance, weights=read_weights(weights, sources), store=store)
    if answers is not None:
        found = judging.answers(read_rows(answers), trial.issues)
        _say_what_is_missing(len(trial.only(found).chosen), len(trial.chosen))
        trial = trial.only(found) if answered_only else trial
        if not trial.chosen:
            raise UserError(f"--answered-only: {answers} has no answer for an issue of {source} that can be judged")
    else:
        with ended_in_order(), progress_bar("Issues arriving", len(trial.issues)) as (progress, task):
            found = trial.ask(asking, jobs, partial(progress.advance, task))
    if not any(issue.dated for issue in trial.issues):
        click.echo("created_at is null everywhere: they came in the order of their ids, and no month is one.", err=True)
    rejected = set() if Path(source).is_file() else rejected_pairs(host.load(), RepoRef.parse(source))
    result = trial.judge(found, _bar(source) if min_confidence is None else min_confidence, rejected)
    as_the_bot = answers is None and replace(asking, store="") == as_the_bot_asks()
    if as_the_bot and not Path(source).is_file():
        keep_evaluation(host.load(), RepoRef.parse(source), result)
    if picture is not None:
        _write(picture, draw(result, Path(source).name if Path(source).is_file() else source))
    if as_json:
        click.echo(json.dumps({"source": source} | result.to_json() | {"says": says(result)}, indent=2))
    else:
        show(result, {issue.id: issue.title for issue in trial.issues})


def _check(picture: Path | None, answers: Path | None, answered_only: bool, sample: int | None) -> None:
    """Refuse options that cannot be meant together, before anything takes time."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise UserError(f"--picture: {picture} does not end in .svg, the one format that is written")
    if answered_only and answers is None:
        raise UserError("--answered-only: there is nothing to leave out without --answers")
    if sample is not None and answers is not None:
        raise UserError("--sample: given answers cannot be sampled; --answered-only judges those of a sample")


def _rows(source: str, export: Path | None, *, fresh: bool) -> list[tuple[Any, str]]:
    """The rows of a file or of a repository, each with its place for error messages."""
    from bot.replay.archive import read_rows

    if Path(source).is_file():
        if export is not None or fresh:
            raise UserError(f"{'--export' if export else '--fresh'}: {source} is a file; this is for OWNER/REPO")
        return list(read_rows(Path(source)))
    try:
        repo = RepoRef.parse(source)
    except InvalidArgument:
        raise UserError(f"{source}: there is no such file, and it is not of the form OWNER/REPO") from None
    if source.endswith((".jsonl", ".gz", ".json")):
        raise UserError(f"{source}: there is no such file")
    rows = _history(repo, fresh=fresh)
    if export is not None:
        _write(export, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return [(row, f"{repo}#{row['id']}") for row in rows]


def _bar(source: str) -> float:
    """The threshold in force in a repository that this host knows; the usual one for anything else."""
    from bot.wiring.indexes import known_bar

    if Path(source).is_file():
        return MIN_CONFIDENCE
    bar = known_bar(host.load(), RepoRef.parse(source))
    return MIN_CONFIDENCE if bar is None else bar.value


def _history(repo: RepoRef, *, fresh: bool) -> list[dict[str, Any]]:
    """A repository's own history, read through GitHub as far as it is not known yet."""
    from bot.evaluation.reading import read_history
    from bot.wiring.clients import build_github, reader
    from bot.wiring.evaluating import history_erased_if_ended

    settings = host.load()
    github = build_github(settings)
    with told_if_out_of_sight(repo), progress_bar(f"Issues of {repo}", None) as (progress, task):
        try:
            with history_erased_if_ended(settings, repo):
                return read_history(
                    reader(settings, github, repo),
                    repo,
                    settings.home,
                    lambda done, total: progress.update(task, completed=done, total=total),
                    fresh=fresh,
                )
        except (RateLimited, Unavailable) as problem:
            wait = f" in {problem.after / 60:.0f} minutes" if problem.after and problem.after > 60 else ""
            raise type(problem)(
                f"{problem}. What was read is kept: run it again{wait} to go on", problem.after
            ) from None
        finally:
            github.close()


def _say_what_is_missing(given: int, wanted: int) -> None:
    if given < wanted:
        click.echo(
            f"{given:,} of {wanted:,} arrivals have an answer; the others count as if nothing had been found "
            "(--answered-only leaves them out).",
            err=True,
        )


def _write(path: Path, text: str) -> None:
    """Write a file, compressed where its name ends in .gz."""
    try:
        with opened(path) as file:
            file.write(text)
    except OSError as problem:
        raise UserError(f"{path}: {problem.strerror}") from None


def says(found: Evaluation) -> dict[str, str]:
    """The sentences that a person is told first, for programs that pass them on."""
    from bot.render import evaluation as words

    return {"advice": words.advice(found), "last_month": words.last_month(found), "history": words.history(found)}


def show(found: Evaluation, titles: Mapping[int | str, str]) -> None:
    """Print an evaluation for a person: sentences first, then the tables; titles are by the issues' ids."""
    from bot.render import evaluation as words

    console = Console(highlight=False, width=None if Console().width >= _WIDTH else _WIDTH)
    for paragraph in (words.basis(found), f"{words.finding(found)} {words.confidence(found)}"):
        console.print(paragraph, "\n")
    # What is said below of the threshold that is set, because no other is recommended, is said once.
    if words.spoken_of(found) != found.at.cut:
        console.print(f"{words.at_threshold(found, found.at)}\n")
    console.print(f"[bold]{words.advice(found)}[/] {words.last_month(found)} {words.history(found)}\n")
    console.print(_retrieval(found))
    # Without others each threshold bothers as few of them.
    if found.silent:
        console.print(_limits(found))
    console.print(_thresholds(found))
    if found.unmarked:
        console.print(f"{words.unmarked(found)}\n")
        for one in found.unmarked:
            for lead, id in ((f"  {words.percent(one.confidence):>4} ", one.id), ("       ", one.candidate)):
                line = clean(f"{f'#{id}' if isinstance(id, int) else id} {titles.get(id, '')}")
                console.print(Text(lead + line), no_wrap=True, overflow="ellipsis")
    console.print(f"\n{words.caution(found)}", style="dim")


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left")
    return table


def _retrieval(found: Evaluation) -> Table:
    from bot.render import evaluation as words

    table = _table("Finding", ("an original among the first", "duplicates", "at 95 %"))
    for k, share in found.retrieval.rr.items():
        table.add_row(f"{k} (RR@{k})", words.percent(share), words.interval(found.rr_intervals.get(k)))
    return table


def _limits(found: Evaluation) -> Table:
    from bot.render import evaluation as words

    columns = ("others bothered", "threshold", "duplicates caught", "at 95 %", "comments right")
    table = _table("Speaking: what can be caught while few are bothered", columns)
    for share, row in found.limits.items():
        cells = (words.threshold(row.cut), words.caught(found, row), words.interval(found.caught_intervals.get(share)))
        table.add_row(words.percent(share), *cells, words.percent(row.precision))
    return table


def _thresholds(found: Evaluation) -> Table:
    from bot.render import evaluation as words

    columns = ("min_confidence", "a month", "rightly", "right", "caught", "bothered")
    table = _table("Speaking: comments at each threshold", columns)
    for row in sorted({*found.cuts, found.at}, key=lambda row: row.cut):
        month = found.monthly[row.cut]
        style = "bold" if row.cut == found.advice.threshold else "cyan" if row.cut == found.at.cut else ""
        note = " recommended" if row.cut == found.advice.threshold else " as set" if row.cut == found.at.cut else ""
        table.add_row(
            words.threshold(row.cut) + note,
            f"{month.comments:.1f}",
            f"{month.right:.1f}",
            words.percent(row.precision),
            words.caught(found, row),
            words.bothered(found, row),
            style=style,
        )
    return table
