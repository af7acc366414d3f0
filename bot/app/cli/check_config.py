"""`doppel check-config FILE`: what the bot would read in a repository's settings file, and what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.app.cli.shared.console import echo_json, read_bytes
from bot.app.cli.shared.parameters import READ_FILE_OR_STDIN, json_option
from bot.conversation.config.parser import notes_on, parse_config
from bot.domain.errors import UserError


@click.command(name="check-config")
@click.argument("file", type=READ_FILE_OR_STDIN)
@json_option
def check_config(file: Path, as_json: bool) -> None:
    """Check FILE, a repository's settings in .github/doppel.yml (- for standard input).

    Notes are not problems. They point out settings with a changed meaning or a surprising effect. The JSON also has the
    settings in force. Exit code 1: there are problems. 2: the file cannot be read.
    """
    try:
        config, problems = parse_config(read_bytes(file).decode())
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8: byte {error.start + 1} belongs to no character") from error
    notes = notes_on(config)
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
