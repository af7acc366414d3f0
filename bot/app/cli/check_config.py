"""`doppel check-config FILE`: what the bot would read in a repository's settings file, and what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.app.cli.shared.console import echo_json, read_bytes
from bot.app.cli.shared.parameters import READ_FILE_OR_STDIN, json_option
from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import JUDGE_FLOOR, MIN_CONFIDENCE, RepoConfig
from bot.domain.errors import UserError


@click.command(name="check-config")
@click.argument("file", type=READ_FILE_OR_STDIN)
@json_option
def check_config(file: Path, as_json: bool) -> None:
    """Check FILE, a repository's settings in .github/doppel.yml (- for standard input).

    Notes are no problems: they point out settings whose meaning has changed, or that may surprise. The JSON also has
    the settings in force. Exit code 1: there are problems. 2: the file cannot be read.
    """
    try:
        config, problems = parse_config(read_bytes(file).decode())
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8: byte {error.start + 1} belongs to no character") from error
    notes = _notes(config)
    if as_json:
        rows = [problem.to_json() for problem in problems]
        echo_json({"file": str(file), "problems": rows, "notes": notes, "settings": config.model_dump()})
    else:
        for problem in problems:
            hint = f" (did you mean {problem.hint}?)" if problem.hint else ""
            click.echo(f"{file}:{problem.line}:{problem.column}: {problem.message}{hint}")
        for note in notes:
            click.echo(f"{file}: note: {note}")
        if not problems:
            click.echo(f"{file}: all well, mode: {config.mode}")
    sys.exit(1 if problems else 0)


def _notes(config: RepoConfig) -> list[str]:
    """Notes on settings that may surprise, such as a threshold that may have been chosen on an older scale (P5)."""
    notes: list[str] = []
    threshold = config.min_confidence
    if threshold is not None and 0 < threshold < MIN_CONFIDENCE:
        # Few files need these imports, which take half a second.
        import numpy as np

        from bot.search.matching.weights import shipped_model

        # The odds that somebody marks two issues as duplicates, from which the model predicts a reader's verdict.
        log_odds = np.log(threshold / (1 - threshold))
        (rescaled,) = shipped_model().readings(np.array([log_odds]), None)
        notes.append(
            f"min_confidence: {threshold:g} is below the default, {MIN_CONFIDENCE:g}. It is how likely a reader calls "
            "two issues the same report. It used to be the chance that somebody marks them as duplicates: "
            f"{threshold:g} meant then what {rescaled:.2f} means now. If it was chosen for that, leave it "
            "out, or let `doppel evaluate` recommend another."
        )
    judge = config.judge
    on = [name for name in ("related", "critic") if getattr(judge, name) and not judge.enabled]
    notes += [f"judge: {name} is on, and the judge is off; without enabled: on nothing is judged." for name in on]
    if judge.enabled and judge.floor < JUDGE_FLOOR:
        notes.append(
            f"judge: floor: {judge.floor:g} is below the default, {JUDGE_FLOOR:g}: the host's judge is asked "
            "about more issues than the usual three of ten, at the host's cost."
        )
    return notes
