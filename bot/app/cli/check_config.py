"""`doppel check-config FILE`: what the bot would read in a repository's settings file, and what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.app.cli.shared.console import in_json, read_bytes
from bot.app.cli.shared.parameters import READ_FILE_OR_STDIN, json_option
from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import JUDGE_FLOOR, MIN_CONFIDENCE, RepoConfig
from bot.domain.errors import UserError
from bot.domain.likelihood import POSSIBLY, VERY_LIKELY


@click.command(name="check-config")
@click.argument("file", type=READ_FILE_OR_STDIN)
@json_option
def check_config(file: Path, as_json: bool) -> None:
    """Check a repository's settings, FILE being its .github/doppel.yml (- for standard input).

    Notes are about what has another meaning than it had; they are no problems. The JSON has the settings in force as
    well. Exit code 0 means that all is well, 1 that there are problems, 2 that the file cannot be read.
    """
    try:
        config, problems = parse_config(read_bytes(file).decode())
    except OSError as problem:
        raise UserError(f"{file} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UserError(f"{file} is not UTF-8: byte {problem.start + 1} belongs to no character") from problem
    notes = _notes(config)
    if as_json:
        told = [one.to_json() for one in problems]
        found = {"file": str(file), "problems": told, "notes": notes, "settings": config.model_dump()}
        click.echo(in_json(found, indent=2))
    else:
        for one in problems:
            hint = f" (did you mean {one.hint}?)" if one.hint else ""
            click.echo(f"{file}:{one.line}:{one.column}: {one.message}{hint}")
        for note in notes:
            click.echo(f"{file}: note: {note}")
        if not problems:
            click.echo(f"{file}: all well, mode: {config.mode}")
    sys.exit(1 if problems else 0)


def _notes(config: RepoConfig) -> list[str]:
    """Values that were meant for an older scale, as far as that can be seen (P5).

    That scale was the chance that somebody marks the two as duplicates. Few are marked, so people lowered the
    threshold: a value below today's default may be of that time.
    """
    notes = []
    threshold = config.min_confidence
    if threshold is not None and 0 < threshold < MIN_CONFIDENCE:
        notes.append(
            f"min_confidence: {threshold:g} is below the default, {MIN_CONFIDENCE:g}. It is how likely a reader calls "
            "two issues the same report. It used to be the chance that somebody marks them as duplicates: "
            f"{threshold:g} meant then what {_today(threshold):.2f} means now. If it was chosen for that, leave it "
            "out, or let `doppel evaluate` recommend another."
        )
    if config.judge.related and not config.judge.enabled:
        notes.append("judge: related is on, and the judge is off; without enabled: on nothing is judged.")
    if config.judge.enabled and config.judge.floor < JUDGE_FLOOR:
        notes.append(
            f"judge: floor: {config.judge.floor:g} is below the default, {JUDGE_FLOOR:g}: the host's judge is asked "
            "about more issues than the usual three of ten, at the host's cost."
        )
    begins = {"very_likely": VERY_LIKELY, "likely": config.likely, "possibly": POSSIBLY}
    if own := [f"{name} from {bound:g} on" for name, bound in begins.items() if name in config.templates]:
        notes.append(
            f"templates: {', '.join(own)}. That is the probability that a careful reader calls two issues the same "
            "report, and no longer the chance that somebody marks them as duplicates."
        )
    return notes


def _today(former: float) -> float:
    """A chance of being marked as the probability that a reader calls the two the same."""
    # numpy takes half a second, which few files cost.
    import numpy as np

    from bot.search.matching.weights import shipped_model

    return float(shipped_model().readings(np.array([np.log(former / (1 - former))]), None)[0])
