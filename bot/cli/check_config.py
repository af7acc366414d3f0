"""`doppel check-config FILE`: what the bot would read in a repository's settings file, and what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.cli.shared.files import in_json, read_bytes
from bot.cli.shared.options import READ_FILE_OR_STDIN, json_option
from bot.config import parse_config
from bot.errors import UserError


@click.command(name="check-config")
@click.argument("file", type=READ_FILE_OR_STDIN)
@json_option
def check_config(file: Path, as_json: bool) -> None:
    """Check a repository's settings, FILE being its .github/doppel.yml (- for standard input).

    The JSON has the settings in force as well. Exit code 0 means that all is well, 1 that there are problems, 2 that
    the file cannot be read.
    """
    try:
        config, problems = parse_config(read_bytes(file).decode())
    except OSError as problem:
        raise UserError(f"{file} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UserError(f"{file} is not UTF-8: byte {problem.start + 1} belongs to no character") from problem
    if as_json:
        found = {"file": str(file), "problems": [one.to_json() for one in problems], "settings": config.model_dump()}
        click.echo(in_json(found, indent=2))
    else:
        for one in problems:
            hint = f" (did you mean {one.hint}?)" if one.hint else ""
            click.echo(f"{file}:{one.line}:{one.column}: {one.message}{hint}")
        if not problems:
            click.echo(f"{file}: all well, mode: {config.mode}")
    sys.exit(1 if problems else 0)
