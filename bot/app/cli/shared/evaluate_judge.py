"""`doppel evaluate --judge` (J7): estimates the cost, writes or asks the questions, and reads the answers."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.app.cli.shared.console import cleanup_on_signal, file_errors, opened, progress_bar, write
from bot.app.cli.shared.parameters import SHARE, WrittenFile, options
from bot.conversation.config.schema import JUDGE_FLOOR
from bot.domain.entities import RepoRef
from bot.domain.errors import UserError
from bot.domain.judge_protocol import JudgeVerdict
from bot.platform import settings as host
from bot.platform.private_files import open_existing
from bot.quality.replay.archive import read_rows

if TYPE_CHECKING:
    from bot.quality.evaluation.judge_answers import RecordedAnswers, RecordedQuestion
    from bot.quality.evaluation.measures import Id
    from bot.quality.evaluation.trial import Found, Trial
    from bot.quality.replay.replay import ReplayAnswer
    from bot.search.judge.prompt import Endpoint

# Questions asked at once, seconds for an answer, and the client's retries of a question.
_AT_ONCE, _SECONDS, _RETRIES = 4, 120.0, 5
# Stop asking after this many failures in a row.
_MAX_FAILURES = 3

judge_options = options(
    click.option("--judge", is_flag=True, help="Also use a judge: DOPPEL_JUDGE_URL, or the answers in --answers."),
    click.option("--floor", type=SHARE, default=JUDGE_FLOOR, show_default=True, help="As in .github/doppel.yml."),
    click.option("--related", is_flag=True, help="Count issues that the judge calls related as named, too."),
    click.option("--critic", is_flag=True, help="Have what the judge calls the same read again, as in doppel.yml."),
    click.option(
        "--export-questions", type=WrittenFile(), help="Only write the questions to this file, less those in --answers."
    ),
    click.option(
        "--record", type=click.Path(dir_okay=False, path_type=Path), help="Keep the judge's answers in this file."
    ),
    click.option(
        "--out", type=WrittenFile(), help="Write the judged candidates to this file, as `doppel replay` does."
    ),
    click.option("--yes", is_flag=True, help="Ask the judge without confirming the cost."),
)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The judge's options besides `--answers`."""

    judge: bool = False
    floor: float = JUDGE_FLOOR
    related: bool = False
    critic: bool = False
    export_questions: Path | None = None
    record: Path | None = None
    out: Path | None = None
    yes: bool = False

    def check(self, answers: Path | None) -> None:
        """Raise UserError if the options exclude each other."""
        for name in ("related", "critic", "export_questions", "record", "out"):
            if getattr(self, name) and not self.judge:
                raise UserError(f"--{name.replace('_', '-')}: this is for --judge")
        if self.judge and not (self.export_questions or answers) and self.record is None:
            raise UserError("--judge: give --record FILE too, so that each answer is paid for once")


@dataclass(frozen=True, slots=True)
class JudgedTrial:
    """The candidates before the judge (`found`) and after (`judged`), and a summary."""

    found: dict[Id, Found]
    judged: dict[Id, Found]
    summary: dict[str, Any] = field(default_factory=dict)


def with_judge(
    trial: Trial,
    answered: Sequence[ReplayAnswer],
    options: JudgeOptions,
    answers: Path | None,
    repo: RepoRef | None,
    threshold: float,
) -> JudgedTrial | None:
    """Judge the trial's candidates; None if only the questions are written."""
    from bot.quality.evaluation import judge_answers
    from bot.search.judge.prompt import CRITIC, PROMPT

    asked = judge_answers.questions(answered)
    cost = _cost(asked, len(answered), critic=options.critic)
    click.echo(cost["says"], err=True)
    if options.export_questions is not None:
        _export(_read(answers, asked, options), options)
        return None
    if answers is None:
        assert options.record is not None
        answers = options.record
        _ask_judge(asked, options, answers, repo)
    read = _read(answers, asked, options)
    _report(answers, read)
    found = {one.id: one.candidates for one in answered}
    verdicts = {one.id: judge_answers.verdicts(one, read.said, critic=options.critic) for one in asked}
    after = dict(found)
    for one in asked:
        if judged := verdicts[one.id]:
            after[one.id] = judge_answers.named_in_comment(
                judge_answers.with_verdicts(found[one.id], one, judged), threshold, related=options.related
            )
    if options.out is not None:
        _write_out(options.out, after)
    every = [pair.verdict for judged in verdicts.values() for pair in judged.values()]
    summary = {
        "prompt": f"{PROMPT} {CRITIC}" if options.critic else PROMPT,
        "floor": options.floor,
        "asked": len(read.asked),
        "answered": len(read.said),
        "unusable": len(read.unusable),
        "verdicts": {verdict.value: every.count(verdict) for verdict in JudgeVerdict},
    }
    return JudgedTrial(found, after, cost | summary)


def _read(answers: Path | None, asked: Sequence[RecordedQuestion], options: JudgeOptions) -> RecordedAnswers:
    from bot.quality.evaluation.judge_answers import read_answers

    rows = list(read_rows(answers)) if answers is not None and answers.exists() else []
    return read_answers(rows, asked, critic=options.critic)


def _report(answers: Path, read: RecordedAnswers) -> None:
    """Say what is missing or unusable in the answers, and which of them the bot would not have waited for."""
    if read.unusable or read.strange or read.unanswered:
        click.echo(
            f"{answers}: {len(read.said):,} of {len(read.asked):,} questions are answered; {len(read.unusable):,} "
            f"answers are none, and {read.strange:,} are to other questions. Without an answer the probability alone "
            "decides.",
            err=True,
        )
    patience = host.load().judge_seconds
    if late := sum(took > patience for took in read.seconds):
        click.echo(
            f"{answers}: {late:,} answers took longer than the {patience:g} s that an issue waits "
            "(DOPPEL_JUDGE_SECONDS). The figures count them.",
            err=True,
        )


def _export(read: RecordedAnswers, options: JudgeOptions) -> None:
    assert options.export_questions is not None
    left = read.unanswered
    write(options.export_questions, "".join(json.dumps(one.row()) + "\n" for one in left), "--export-questions")
    click.echo(f"{len(left):,} questions are in {options.export_questions}; nobody was asked.", err=True)
    if options.critic:
        click.echo("The critic's questions follow from answers that are given with --answers.", err=True)


def _cost(asked: Sequence[RecordedQuestion], arrivals: int, *, critic: bool) -> dict[str, Any]:
    from bot.quality.evaluation.judge_answers import critic_question
    from bot.search.judge.prompt import Price

    settings = host.load()
    price = Price(settings.judge_price_in, settings.judge_price_out)
    into, out = ([one.tokens[way] for one in asked] for way in (0, 1))
    cost = price.of(sum(into), sum(out))
    share = len(asked) / arrivals if arrivals else 0.0
    says = (
        f"The judge: {len(asked):,} questions about {arrivals:,} arrivals ({share:.0%}), about {sum(into):,} tokens in "
        f"(median {statistics.median(into or [0]):,.0f}) and {sum(out):,} out. "
    )
    says += f"That costs about {cost:.2f}." if cost else "DOPPEL_JUDGE_PRICE_IN and _OUT would say what that costs."
    critics: dict[str, float] = {}
    if critic:
        # At most: the critic reads only the pairs that the judge will call the same.
        most = [critic_question(one, candidate).tokens for one in asked for candidate in one.question.candidates]
        more_in, more_out = (sum(tokens[way] for tokens in most) for way in (0, 1))
        more = price.of(more_in, more_out)
        says += f" The critic: at most {len(most):,} questions, about {more_in:,} tokens in and {more_out:,} out"
        says += f", for {more:.2f}." if more else "."
        critics = {"questions_at_most": len(most), "tokens_in": more_in, "tokens_out": more_out, "cost": more}
    return {
        "questions": len(asked),
        "arrivals": arrivals,
        "tokens_in": sum(into),
        "tokens_in_median": statistics.median(into or [0]),
        "tokens_out": sum(out),
        "cost": cost,
        "says": says,
    } | ({"critic": critics} if critic else {})


def _write_out(path: Path, found: Mapping[Id, Found]) -> None:
    with file_errors(path), opened(path) as lines:
        for id, candidates in found.items():
            row = {"id": id, "candidates": [{"id": one, "confidence": round(sure, 6)} for one, sure in candidates]}
            lines.write(json.dumps(row) + "\n")


def _ask_judge(asked: Sequence[RecordedQuestion], options: JudgeOptions, record: Path, repo: RepoRef | None) -> None:
    """Ask the questions that the record does not answer, and append the answers."""
    from bot.app.wiring.clients import build_endpoint

    settings = host.load()
    endpoint = build_endpoint(settings, retries=_RETRIES)
    if endpoint is None:
        raise UserError(
            "--judge: no model is named; set DOPPEL_JUDGE_URL and DOPPEL_JUDGE_MODEL, or let another one answer with "
            "--export-questions and --answers (docs/guides/judge.md)"
        )
    if repo is not None:
        _check_consent(repo)
    left = _unasked(record, asked, options)
    if left and not options.yes and not click.confirm(f"Ask {endpoint.model} {len(left):,} questions?", err=True):
        raise click.Abort
    if not record.exists():
        write(record, "")
    _record_answers(endpoint, left, record, settings.judge_seconds)
    if options.critic:
        _record_answers(endpoint, _unasked(record, asked, options), record, settings.judge_seconds)


def _unasked(record: Path, asked: Sequence[RecordedQuestion], options: JudgeOptions) -> list[RecordedQuestion]:
    """The questions to ask. An unusable answer counts as an answer, because it was paid for."""
    read = _read(record, asked, options)
    return [one for one in read.unanswered if one.key not in read.unusable]


def _record_answers(endpoint: Endpoint, left: Sequence[RecordedQuestion], record: Path, seconds: float) -> None:
    bar = progress_bar("Questions", len(left))
    with file_errors(record), cleanup_on_signal(), bar as (progress, task), open_existing(record) as file:
        file.seek(0, 2)
        for row in _rows(endpoint, left, seconds):
            file.write(json.dumps(row) + "\n")
            file.flush()
            progress.advance(task)


def _rows(endpoint: Endpoint, left: Sequence[RecordedQuestion], seconds: float) -> Iterator[dict[str, Any]]:
    """Ask the questions; yield the answers as rows of a record. Raises UserError if the endpoint keeps failing."""
    from bot.search.judge.prompt import EndpointError, UnusableAnswer

    def ask(one: RecordedQuestion) -> dict[str, Any] | EndpointError:
        row: dict[str, Any] = {"question": one.key, "id": one.id, "prompt": one.prompt.prompt}
        began = time.monotonic()
        try:
            written = endpoint.ask(one.prompt, max(seconds, _SECONDS))
        except UnusableAnswer as useless:
            return {**row, "answer": None, "problem": str(useless)}
        except EndpointError as failure:
            return failure
        took = {"model": written.model, "tokens_in": written.tokens_in, "tokens_out": written.tokens_out}
        return {**row, **took, "seconds": round(time.monotonic() - began, 2), "answer": written.text}

    failures = 0
    threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="evaluate")
    try:
        for future in [threads.submit(ask, one) for one in left]:
            row = future.result()
            if isinstance(row, EndpointError):
                failures += 1
                if failures >= _MAX_FAILURES:
                    raise UserError(f"{row}. What was answered is kept: run it again to go on") from None
                continue
            failures = 0
            yield row
    finally:
        # After an interruption, ask no further question, since each costs money.
        threads.shutdown(wait=True, cancel_futures=True)


def _check_consent(repo: RepoRef) -> None:
    """C6a: a private repository's texts go to the endpoint only if host and repository allow it."""
    from bot.app.wiring.clients import build_github, reader
    from bot.search.repository_settings import settings_at_present

    settings = host.load()
    with closing(build_github(settings)) as github:
        client = reader(settings, github, repo)
        private, wants = client.repository(repo).private, settings_at_present(client, repo).config.judge
        if not wants.enabled:
            raise UserError(f"--judge: the settings of {repo} say judge: off")
        if private and not (settings.remote_text == "all" and wants.private):
            raise UserError(
                f"--judge: {repo} is private; its texts go to the judge only where DOPPEL_REMOTE_TEXT is all and its "
                "settings say judge: {private: on}"
            )
