"""`doppel evaluate`: how well Doppel would have found the duplicates that people marked."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markdown import Markdown

from bot.app.cli.replay import SOURCES, replay_options
from bot.app.cli.shared.console import echo_json, in_json, progress_bar, refuse_overwriting, write
from bot.app.cli.shared.parameters import (
    OUT,
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
from bot.conversation.config.schema import JUDGE_FLOOR, MIN_CONFIDENCE
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.platform import settings as host
from bot.platform.signals import cleanup_on_signal
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.charts import picture as picture_of
from bot.quality.evaluation.markdown import evaluation_markdown, judge_markdown
from bot.quality.evaluation.measures import DEPTHS, Id
from bot.quality.evaluation.trial import Found, Trial, as_the_bot_asks, read_answers
from bot.quality.feedback import UNDECIDED
from bot.quality.replay.archive import read_rows
from bot.quality.replay.drivers import replayed
from bot.quality.replay.replay import ReplayOptions

_DEFAULT = f"{MIN_CONFIDENCE}, or the threshold that this host uses for the repository"
_CONFIDENCE = "The threshold to look at first, as in .github/doppel.yml."


@click.command()
@source_argument
@json_option
@click.option("--picture", type=WrittenFile(), help="Draw the figures into this file; its name must end in .svg.")
@click.option("--min-confidence", type=SHARE, show_default=_DEFAULT, help=_CONFIDENCE)
@click.option("--sample", type=click.IntRange(3), help="Ask about only this many arrivals, a third of them duplicates.")
@seed_option
# `--from` sets `warm`, the share of the earliest issues. The command does not judge these issues.
@from_option("judged")
@click.option("--answers", type=READ_FILE, help="Do not ask: evaluate these answers, from `doppel replay`.")
@click.option("--export", type=WrittenFile(), help="Write the repository's history to this file.")
@click.option("--fresh", is_flag=True, help="Read the repository's whole history again.")
@replay_options
@click.option("--judge", is_flag=True, help="Also use a judge: DOPPEL_JUDGE_URL, or the answers in --answers.")
@click.option("--floor", type=SHARE, default=JUDGE_FLOOR, show_default=True, help="As in .github/doppel.yml.")
@click.option("--related", is_flag=True, help="Keep candidates that the judge calls related.")
@click.option("--critic", is_flag=True, help="A critic rechecks pairs judged to be the same.")
@click.option("--export-questions", type=WrittenFile(), help="Only write the questions that --answers leaves open.")
@click.option("--record", type=OUT, help="Keep the judge's answers in this file.")
@click.option("--out", type=WrittenFile(), help="Write the judged candidates to this file, as `doppel replay` does.")
@click.option("--yes", is_flag=True, help="Ask the judge without confirming the cost.")
def evaluate(
    source: str,
    as_json: bool,
    picture: Path | None,
    min_confidence: float | None,
    sample: int | None,
    seed: int,
    sources: str,
    relevance: str,
    weights: Path | None,
    jobs: int | None,
    warm: float,
    answers: Path | None,
    export: Path | None,
    fresh: bool,
    judge: bool,
    **judge_options: Any,
) -> None:
    """Say how well Doppel would have done with the issues of SOURCE.

    SOURCE is OWNER/REPO or a file of past issues (JSON Lines, plain or gzipped, as for `doppel replay`). In a file,
    duplicate_of names the original of a duplicate. A repository's history is read from GitHub: issues that were marked
    or closed as duplicates, and issues that members called duplicates in comments. Doppel sees each
    issue as it was on arrival, without marks. docs/evaluate.md explains the figures. With --judge, a
    language model also reads the likeliest candidates, and --answers has its answers (docs/guides/judge.md).
    """
    from bot.app.cli.shared.evaluate_judge import JudgeOptions, with_judge
    from bot.app.wiring.evaluations import known_decisions, repository_history, store_evaluation
    from bot.app.wiring.indexes import known_threshold

    options = JudgeOptions(answers=answers, **judge_options)
    options.check(judge=judge)
    model, floor = read_weights(weights), options.floor if judge else None
    asking = ReplayOptions(SOURCES[sources], max(DEPTHS), relevance=relevance, weights=model, floor=floor)
    if picture is not None and picture.suffix.lower() != ".svg":
        raise UserError(f"--picture: {picture} does not end in .svg, the one format that is written")
    if answers is not None and not judge and (sample is not None or asking != as_the_bot_asks()):
        names = "--sample, --sources, --relevance, --weights"
        raise UserError(f"{names}: with --answers nothing is asked; give these to `doppel replay`")
    for option, written in (("--picture", picture), ("--export", export)):
        refuse_overwriting(option, written, Path(source), answers, weights)
    given = read_source(source)
    repo = given if isinstance(given, RepoRef) else None
    repo_id = None
    if repo is not None:
        with progress_bar(f"Issues of {repo}", None) as (progress, task):
            repo_id, rows = repository_history(host.load(), repo, partial(progress.update, task), fresh=fresh)
    elif export is not None or fresh:
        raise UserError(f"{'--export' if export else '--fresh'}: {source} is a file; this is for OWNER/REPO")
    else:
        rows = list(read_rows(Path(source)))
    if export is not None:
        write(export, "".join(in_json(row) + "\n" for row, _ in rows))
    decided = known_decisions(host.load(), repo_id) if repo_id else UNDECIDED
    trial = Trial.of(rows, warm=warm, sample=sample, seed=seed, decided=decided)
    _report_marks(trial, source)
    if min_confidence is None:
        known = known_threshold(host.load(), repo) if repo else None
        min_confidence = known.value if known else MIN_CONFIDENCE
    judgement: dict[str, Any] = {}
    if answers is not None and not judge:
        found = _answered(trial, answers)
    else:
        # With --judge but no --sample, replay every arrival after the share `warm`: --out has them all, as in a replay.
        every = range(int(len(trial.issues) * warm), len(trial.issues))
        with cleanup_on_signal(), progress_bar("Issues arriving", len(trial.issues)) as (progress, task):
            positions = every if judge and not sample else trial.chosen
            answered = list(replayed(trial.issues, positions, asking, jobs, partial(progress.advance, task)))
        found = {answer.id: answer.candidates for answer in answered}
        if judge:
            judged = with_judge(trial, answered, options, repo, min_confidence)
            if judged is None:  # with --export-questions
                return
            found, judgement = judged
    result = trial.evaluation(found, min_confidence)
    if answers is None and repo_id and asking == as_the_bot_asks():
        store_evaluation(host.load(), repo_id, result)
    if picture is not None and result.retrieval.queries:
        write(picture, picture_of(result, given.name if isinstance(given, Path) else source))
    elif picture is not None:
        click.echo(f"--picture: {source}: no known duplicate can be judged: there is nothing to draw", err=True)
    if as_json:
        sentences = (words.finding, words.advice, words.last_month, words.history)
        says = {sentence.__name__: sentence(result) for sentence in sentences}
        echo_json({"source": source} | result.to_json() | {"says": says} | ({"judge": judgement} if judge else {}))
    else:
        titles = {issue.id: issue.title for issue in trial.issues}
        text = evaluation_markdown(result, titles, of_file=repo is None)
        console = Console()
        # Narrower tables would cut off figures. A narrower terminal only wraps the lines.
        console.width = max(console.width, 80)
        console.print(Markdown(f"{judge_markdown(judgement)}\n\n{text}" if judgement else text))


def _report_marks(trial: Trial, source: str) -> None:
    """Report a lack of marks, and marks that name no other issue."""
    if not trial.marks.marked:
        click.echo(
            f"{source}: no issue is known to be a duplicate. In a file `duplicate_of` names the original's id; in a "
            'repository "closed as duplicate" or a member\'s "Duplicate of #N" names the original.',
            err=True,
        )
    if astray := trial.marks.astray:
        id, original = next(iter(astray.items()))
        click.echo(
            f"{source}: in {len(astray):,} of {len(trial.marks.marked):,} marked issues, duplicate_of is not the id of "
            f"another issue there (in {id!r} it is {original!r}); these issues are left out.",
            err=True,
        )


def _answered(trial: Trial, answers: Path) -> dict[Id, Found]:
    """The given answers. Reports missing ones."""
    found = read_answers(read_rows(answers), trial.issues)
    if missing := sum(trial.issues[position].id not in found for position in trial.chosen):
        text = f"{missing:,} of {len(trial.chosen):,} arrivals have no answer, and count as if nothing had been found."
        click.echo(text, err=True)
    return found
