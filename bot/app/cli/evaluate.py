"""`doppel evaluate`: how well Doppel would have done, from duplicates that people marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.app.cli.replay import replay_options
from bot.app.cli.shared.console import (
    cleanup_on_signal,
    echo_json,
    in_json,
    progress_bar,
    refuse_overwriting,
    write,
)
from bot.app.cli.shared.evaluate_judge import JudgedTrial, JudgeOptions, judge_options, with_judge
from bot.app.cli.shared.parameters import (
    READ_FILE,
    SHARE,
    WrittenFile,
    from_option,
    json_option,
    read_source,
    read_weights,
    seed_option,
    source_argument,
)
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.conversation.render.escape import clean
from bot.domain.entities import RepoRef
from bot.domain.errors import RateLimited, Unavailable, UserError
from bot.platform import settings as host
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.charts import picture as picture_of
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.measures import DEPTHS, Id
from bot.quality.evaluation.trial import Found, Trial, as_the_bot_asks, read_answers
from bot.quality.feedback import UNDECIDED
from bot.quality.replay.archive import read_rows
from bot.quality.replay.replay import ReplayOptions

# Every table fits into this many columns.
_TABLE_WIDTH = 80
_DEFAULT = f"{MIN_CONFIDENCE}; for a repository that this host knows, its threshold in force"
_CONFIDENCE = "The threshold to look at first, as in .github/doppel.yml."
_HOW_IT_IS_KNOWN = (
    'In a file `duplicate_of` names the original\'s id; in a repository it is known from "closed as duplicate" and '
    'from members\' comments "Duplicate of #N".'
)


@click.command()
@source_argument
@json_option
@click.option("--picture", type=WrittenFile(), help="Draw the figures into this file; its name must end in .svg.")
@click.option("--min-confidence", type=SHARE, show_default=_DEFAULT, help=_CONFIDENCE)
@click.option("--sample", type=click.IntRange(3), help="Ask about only this many arrivals, a third of them duplicates.")
@seed_option
@from_option("judged")
@click.option(
    "--answers", type=READ_FILE, help="Evaluate the answers in this file, from `doppel replay`, instead of asking."
)
@click.option("--export", type=WrittenFile(), help="Write the repository's history to this file.")
@click.option("--fresh", is_flag=True, help="Read the repository's whole history again.")
@replay_options
@judge_options
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
    jobs: int | None,
    warm: float,
    answers: Path | None,
    export: Path | None,
    fresh: bool,
    **judging_options: Any,
) -> None:
    """Say how well Doppel would have done with the issues of SOURCE.

    SOURCE is OWNER/REPO or a file of past issues (JSON Lines, plain or gzipped, as for `doppel replay`). In a file,
    duplicate_of names the original of a duplicate. A repository's history is read from GitHub: issues that were marked
    or closed as duplicates, and issues that members called duplicates in comments. Doppel is asked about each issue as
    it was on arrival; the labels are used only afterwards. docs/evaluate.md says what the figures mean.

    With --judge a language model reads the likeliest candidates, too; --answers then holds that model's answers
    (docs/guides/judge.md).
    """
    from bot.app.wiring.evaluations import known_decisions, store_evaluation
    from bot.app.wiring.indexes import known_threshold

    judge_options_given = JudgeOptions(**judging_options)
    judge_options_given.check(answers)
    _check(picture, None if judge_options_given.judge else answers, sample)
    refuse_overwriting("--picture", picture, Path(source), answers, weights)
    refuse_overwriting("--export", export, Path(source), answers, weights)
    given = read_source(source)
    repo = given if isinstance(given, RepoRef) else None
    if repo is None and (export is not None or fresh):
        raise UserError(f"{'--export' if export else '--fresh'}: {source} is a file; this is for OWNER/REPO")
    repo_id, rows = _rows(given, export, fresh=fresh)
    try:
        decided = known_decisions(host.load(), repo_id) if repo_id else UNDECIDED
        trial = Trial.of(rows, warm=warm, sample=sample, seed=seed, decided=decided)
    except UserError as reason:
        raise UserError(str(reason) if source in str(reason) else f"{source}: {reason}") from None
    _report_marks(trial, source)
    if picture is not None and not any(trial.known.values()):
        click.echo(f"--picture: {source}: no known duplicate can be judged: there is nothing to draw", err=True)
        picture = None
    asking = ReplayOptions(sources, max(DEPTHS), relevance=relevance, weights=read_weights(weights))
    judgement, threshold = None, min_confidence
    if threshold is None:
        known = known_threshold(host.load(), repo) if repo else None
        threshold = known.value if known else MIN_CONFIDENCE
    if judge_options_given.judge:
        asking = replace(asking, floor=judge_options_given.floor)
        every = trial.chosen if sample else range(int(len(trial.issues) * warm), len(trial.issues))
        with cleanup_on_signal(), progress_bar("Issues arriving", len(trial.issues)) as (progress, task):
            answered = trial.replayed(asking, jobs, partial(progress.advance, task), every)
        judgement = with_judge(trial, answered, judge_options_given, answers, repo, threshold)
        if judgement is None:
            return
        found = judgement.judged
    elif answers is not None:
        found = _answered(trial, answers)
    else:
        with cleanup_on_signal(), progress_bar("Issues arriving", len(trial.issues)) as (progress, task):
            answered = trial.replayed(asking, jobs, partial(progress.advance, task), trial.chosen)
            found = {answer.id: answer.candidates for answer in answered}
    result = trial.judge(found, threshold)
    compared = _compared(trial, judgement, threshold) if judgement else {}
    as_the_bot = answers is None and asking == as_the_bot_asks()
    if as_the_bot and repo_id:
        store_evaluation(host.load(), repo_id, result)
    if picture is not None:
        write(picture, picture_of(result, given.name if isinstance(given, Path) else source))
    if as_json:
        # The main sentences, for programs that show them.
        sentences = (words.finding, words.advice, words.last_month, words.history)
        says = {sentence.__name__: sentence(result) for sentence in sentences}
        values = {"source": source} | result.to_json() | {"says": says}
        echo_json(values | ({"judge": judgement.summary | compared} if judgement else {}))
    else:
        if judgement:
            same, related, different = judgement.summary["verdicts"].values()
            console = Console(highlight=False)
            console.print(f"The judge called {same:,} pairs the same, {related:,} related and {different:,} different.")
            console.print(_judged_table(compared))
        show(result, {issue.id: issue.title for issue in trial.issues}, of_file=repo is None)


def _compared(trial: Trial, judgement: JudgedTrial, threshold: float) -> dict[str, Any]:
    """The outcomes with the judge, without the judge, and without it at the threshold with as many comments."""
    from bot.quality.evaluation.judge_answers import outcome_with_as_many_comments
    from bot.quality.evaluation.measures import outcome_at

    with_it, without = trial.judged(judgement.judged), trial.judged(judgement.found)
    after = outcome_at(with_it, threshold)
    rows = {
        "with": after,
        "without": outcome_at(without, threshold),
        "without_at_as_many": outcome_with_as_many_comments(without, after.comments),
    }
    return {name: asdict(row) for name, row in rows.items()}


def _judged_table(compared: Mapping[str, Any]) -> Table:
    table = _table("The judge: comments with and without it", ("", "threshold", "comments", "marked", "caught"))
    names = {"with": "with", "without": "without", "without_at_as_many": "without, at as many"}
    for key, name in names.items():
        row = compared[key]
        shares = (words.percent(row["precision"]), words.percent(row["caught"]))
        table.add_row(name, words.threshold(row["cut"]), f"{row['comments']:,.0f}", *shares)
    return table


def _check(picture: Path | None, answers: Path | None, sample: int | None) -> None:
    """Refuse options that exclude each other, before any long work."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise UserError(f"--picture: {picture} does not end in .svg, the one format that is written")
    if sample is not None and answers is not None:
        raise UserError("--sample: given answers cannot be sampled")
    context = click.get_current_context()
    for option in ("weights", "sources", "relevance"):
        if answers is not None and context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            # Readers would take the figures for results of the named weights.
            raise UserError(f"--{option}: nothing is asked where --answers are given; give it to `doppel replay`")


def _rows(given: Path | RepoRef, export: Path | None, *, fresh: bool) -> tuple[int | None, list[tuple[Any, str]]]:
    """A repository's id on GitHub (None for a file), and the rows, each with its place for error messages."""
    if isinstance(given, Path):
        return None, list(read_rows(given))
    repo_id, rows = history_of(given, fresh=fresh)
    if export is not None:
        write(export, "".join(in_json(row) + "\n" for row in rows))
    return repo_id, [(row, f"{given}#{row['id']}") for row in rows]


def _report_marks(trial: Trial, source: str) -> None:
    """Report marks that are missing or lead nowhere, before any long work."""
    if not trial.marks.marked:
        click.echo(f"{source}: no issue is known to be a duplicate. {_HOW_IT_IS_KNOWN}", err=True)
    if trial.marks.astray:
        (id, of), astray = next(iter(trial.marks.astray.items())), len(trial.marks.astray)
        click.echo(
            f"{source}: {astray:,} of {len(trial.marks.marked):,} duplicate_of are no other issue's id there, as "
            f"{of!r} of {id!r}; these issues are left out.",
            err=True,
        )


def _answered(trial: Trial, answers: Path) -> dict[Id, Found]:
    """The given answers. Reports missing ones."""
    found = read_answers(read_rows(answers), trial.issues)
    given, wanted = sum(trial.issues[position].id in found for position in trial.chosen), len(trial.chosen)
    if given < wanted:
        text = f"{given:,} of {wanted:,} arrivals have an answer; the others count as if nothing had been found."
        click.echo(text, err=True)
    return found


def history_of(repo: RepoRef, *, fresh: bool) -> tuple[int, list[dict[str, Any]]]:
    """The id and the rows of a repository. Reads new issues from GitHub; with `fresh`, all issues."""
    from bot.app.wiring.clients import build_github, reader
    from bot.app.wiring.evaluations import history_erased_if_ended
    from bot.quality.evaluation.history import read_history

    settings = host.load()
    bar = progress_bar(f"Issues of {repo}", None)
    with closing(build_github(settings)) as github, bar as (progress, task):
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


def show(found: Evaluation, titles: Mapping[int | str, str], *, of_file: bool) -> None:
    """Print an evaluation for a person: sentences first, then the tables. `titles` are by the issues' ids."""
    console = Console(highlight=False)
    # A narrower terminal wraps the lines; squeezing the table would cut off figures.
    tables = Console(highlight=False, width=max(console.width, _TABLE_WIDTH))
    for paragraph in (words.basis(found), f"{words.finding(found)} {words.confidence(found)}".strip()):
        console.print(f"{paragraph}\n")
    # If no threshold is recommended, the sentences below already discuss the current one: do not repeat them.
    if words.discussed_threshold(found) != found.at.cut:
        console.print(f"{words.at_threshold(found, found.at)}\n")
    console.print(f"[bold]{words.advice(found)}[/] {words.last_month(found)} {words.history(found)}\n")
    if found.retrieval.queries:
        tables.print(_retrieval(found))
        # Without unmarked issues every threshold has the same share of false alarms, none, so this table is pointless.
        if found.silent:
            tables.print(_limits(found))
    tables.print(_thresholds(found))
    if found.unmarked:
        console.print(f"{words.unmarked(found)}\n")
        for pair in found.unmarked:
            for lead, id in ((f"  {words.percent(pair.confidence):>4} ", pair.id), ("       ", pair.candidate)):
                line = clean(f"{f'#{id}' if isinstance(id, int) else id} {titles.get(id, '')}")
                console.print(Text(lead + line), no_wrap=True, overflow="ellipsis")
    console.print(f"\n{words.caution(found, of_file=of_file)}", style="dim")


def _table(title: str, columns: Sequence[str]) -> Table:
    # A table narrower than its title would wrap the title.
    width = len(title)
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, min_width=width
    )
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left")
    return table


def _retrieval(found: Evaluation) -> Table:
    table = _table("Finding", ("an original among the first", "duplicates", "at 95%"))
    for k, share in found.retrieval.rr.items():
        table.add_row(f"{k} (RR@{k})", words.percent(share), words.interval(found.rr_intervals.get(k)))
    return table


def _limits(found: Evaluation) -> Table:
    columns = ("of the others", "threshold", "duplicates caught", "at 95%", "the same")
    table = _table("Speaking: what is caught while few others get a comment", columns)
    for share, row in found.limits.items():
        cells = (words.threshold(row.cut), words.caught(found, row), words.interval(found.caught_intervals.get(share)))
        table.add_row(words.percent(share), *cells, words.same(row))
    return table


def _thresholds(found: Evaluation) -> Table:
    marked = found.retrieval.queries > 0
    columns = ("marked", "caught", "of the others") if marked else ("of all",)
    table = _table("Speaking: comments at each threshold", ("min_confidence", "a month", "the same", *columns))
    for row in sorted({*found.cuts, found.at}, key=lambda row: row.cut):
        month = found.monthly[row.cut]
        style = "bold" if row.cut == found.advice.threshold else "cyan" if row.cut == found.at.cut else ""
        note = " recommended" if row.cut == found.advice.threshold else " as set" if row.cut == found.at.cut else ""
        of_marks = (words.percent(row.precision), words.caught(found, row)) if marked else ()
        cells = (words.a_month(month.comments), words.same(row), *of_marks, words.others(found, row))
        table.add_row(words.threshold(row.cut) + note, *cells, style=style)
    return table
