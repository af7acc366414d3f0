"""`doppel check-config FILE`: what the bot would read in a repository's settings file, and what is wrong with it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from bot.cli.shared.files import READ_FILE_OR_STDIN, read_bytes
from bot.cli.shared.in_json import in_json
from bot.config import parse_config
from bot.errors import UserError


@click.command(name="check-config")
@click.argument("file", type=READ_FILE_OR_STDIN)
@click.option("--json", "as_json", is_flag=True, help="Print problems and the settings in force as JSON.")
def check_config(file: Path, as_json: bool) -> None:
    """Check a repository's settings, FILE being its .github/doppel.yml (- for standard input).

    Exit code 0 means that all is well, 1 that there are problems, 2 that the file cannot be read.
    """
    text = _read(file)
    config, problems = parse_config(text)
    if as_json:
        found = {
            "file": str(file),
            "problems": [problem.to_json() for problem in problems],
            "settings": asdict(config),
        }
        click.echo(in_json(found, indent=2))
    else:
        for one in problems:
            hint = f" (did you mean {one.hint}?)" if one.hint else ""
            click.echo(f"{file}:{one.line}:{one.column}: {one.message}{hint}")
        if not problems:
            click.echo(f"{file}: all well, mode: {config.mode}")
    sys.exit(1 if problems else 0)


def _read(file: Path) -> str:
    try:
        return read_bytes(file).decode()
    except OSError as problem:
        raise UserError(f"{file} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise UserError(f"{file} is not UTF-8: byte {problem.start + 1} belongs to no character") from problem
