"""`doppel evaluate --judge` (J7): says what the judge costs, writes or asks the questions, and reads the answers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from bot.app.cli.replay import answer_row
from bot.app.cli.shared.console import file_errors, progress_bar, write
from bot.app.wiring.clients import build_endpoint, build_github, reader
from bot.app.wiring.indexes import required_judge
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.platform import settings as host
from bot.platform.private_files import open_existing
from bot.platform.signals import cleanup_on_signal
from bot.quality.evaluation import judge_answers
from bot.quality.evaluation.judge_answers import RecordedAnswers, RecordedQuestion
from bot.quality.evaluation.judge_asking import ask
from bot.quality.evaluation.measures import Id
from bot.quality.evaluation.trial import Found, Trial
from bot.quality.replay.archive import read_rows
from bot.quality.replay.replay import ReplayAnswer
from bot.search.judge.prompt import CRITIC, PROMPT, Endpoint, Price
from bot.search.repository_settings import settings_at_present

# The client waits at least _SECONDS for an answer, and retries a question up to _RETRIES times.
_SECONDS, _RETRIES = 120.0, 5


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The options that `--judge` reads. `answers` and `record` are files of the judge's answers."""

    answers: Path | None
    floor: float
    related: bool
    critic: bool
    export_questions: Path | None
    record: Path | None
    out: Path | None
    yes: bool

    def check(self, *, judge: bool) -> None:
        """Raise UserError if a given option needs an option that is missing."""
        for name in ("related", "critic", "export_questions", "record", "out"):
            if getattr(self, name) and not judge:
                raise UserError(f"--{name.replace('_', '-')}: this is for --judge")
        if judge and not (self.export_questions or self.answers or self.record):
            raise UserError("--judge: give --record FILE too, so that each answer is paid for once")


def with_judge(
    trial: Trial, replay_answers: Sequence[ReplayAnswer], options: JudgeOptions, repo: RepoRef | None, threshold: float
) -> tuple[dict[Id, Found], dict[str, Any]] | None:
    """The candidates after the judge's verdicts, and a summary for `--json`; None if only the questions are written."""
    settings = host.load()
    questions = judge_answers.questions(replay_answers)
    price = Price(settings.judge_price_in, settings.judge_price_out)
    cost = judge_answers.estimated_cost(questions, len(replay_answers), price, critic=options.critic)
    click.echo(cost["says"], err=True)
    if options.export_questions is not None:
        left = _read(options.answers, questions, options).unanswered
        write(options.export_questions, "".join(json.dumps(one.row()) + "\n" for one in left), "--export-questions")
        follow = " The critic's questions need the judge's answers in --answers." if options.critic else ""
        click.echo(f"{len(left):,} questions are in {options.export_questions}; nobody was asked.{follow}", err=True)
        return None
    answers = options.answers or options.record
    assert answers is not None
    if options.answers is None:
        _ask_rest(questions, options, answers, repo)
    read = _read(answers, questions, options)
    _report(answers, read, settings.judge_seconds)
    before = {one.id: one.candidates for one in replay_answers}
    switches = {"critic": options.critic, "related": options.related}
    after, verdicts = judge_answers.candidates_after(questions, read.said, before, threshold, **switches)
    if options.out is not None:
        write(options.out, "".join(answer_row(id, candidates) for id, candidates in after.items()))
    outcomes = judge_answers.compared_outcomes(trial.with_candidates(after), trial.with_candidates(before), threshold)
    summary = {
        "prompt": f"{PROMPT} {CRITIC}" if options.critic else PROMPT,
        "floor": options.floor,
        "asked": len(read.asked),
        "answered": len(read.said),
        "unusable": len(read.unusable),
        "verdicts": verdicts,
    }
    return after, cost | summary | {name: asdict(row) for name, row in outcomes.items()}


def _read(answers: Path | None, questions: Sequence[RecordedQuestion], options: JudgeOptions) -> RecordedAnswers:
    rows = list(read_rows(answers)) if answers is not None and answers.exists() else []
    return judge_answers.read_answers(rows, questions, critic=options.critic)


def _report(answers: Path, read: RecordedAnswers, patience: float) -> None:
    """Say which answers are missing or unusable, and how many took longer than the bot waits."""
    if read.unusable or read.strange or read.unanswered:
        click.echo(
            f"{answers}: {len(read.said):,} of {len(read.asked):,} questions are answered; {len(read.unusable):,} "
            f"answers are unusable, and {read.strange:,} answer unknown questions. Without an answer the probability "
            "alone decides.",
            err=True,
        )
    if late := sum(took > patience for took in read.seconds):
        click.echo(
            f"{answers}: {late:,} answers took longer than the {patience:g} s that an issue waits "
            "(DOPPEL_JUDGE_SECONDS). The figures count them.",
            err=True,
        )


def _ask_rest(questions: Sequence[RecordedQuestion], options: JudgeOptions, record: Path, repo: RepoRef | None) -> None:
    """Ask the questions that have no answer in the record, not even an unusable one. Append the new answers."""
    settings = host.load()
    endpoint = build_endpoint(settings, retries=_RETRIES)
    if endpoint is None:
        raise UserError(
            "--judge: no model is named; set DOPPEL_JUDGE_URL and DOPPEL_JUDGE_MODEL, or let another model answer with "
            "--export-questions and --answers (docs/guides/judge.md)"
        )
    if repo is not None:
        with closing(build_github(settings)) as github:
            client = reader(settings, github, repo)
            # Raises UserError if the repository's texts may not go to the judge.
            required_judge(settings, None, client.repository(repo), settings_at_present(client, repo).config)
    left = _read(record, questions, options).unasked
    if left and not options.yes:
        click.confirm(f"Ask {endpoint.model} {len(left):,} questions?", abort=True, err=True)
    if not record.exists():
        write(record, "")
    _record_answers(endpoint, left, record, settings.judge_seconds)
    if options.critic:
        # The critic's questions follow from the judge's answers.
        _record_answers(endpoint, _read(record, questions, options).unasked, record, settings.judge_seconds)


def _record_answers(endpoint: Endpoint, left: Sequence[RecordedQuestion], record: Path, seconds: float) -> None:
    bar = progress_bar("Questions", len(left))
    with file_errors(record), cleanup_on_signal(), bar as (progress, task), open_existing(record) as file:
        file.seek(0, os.SEEK_END)
        for row in ask(endpoint, left, max(seconds, _SECONDS)):
            file.write(json.dumps(row) + "\n")
            file.flush()
            progress.advance(task)
