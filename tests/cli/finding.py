"""Running `doppel find`, and reading what it prints."""

from __future__ import annotations

import re

from click.testing import CliRunner, Result

from bot.app.cli import cli


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "300"}).invoke(cli, ["find", *arguments], catch_exceptions=False)


def listed(shown: str) -> dict[str, bool]:
    """The candidates by name, in order, and whether the bot would name each unasked."""
    unasked = re.findall(r"^Unasked, the bot would have named (.*)\. That takes", shown, re.MULTILINE)
    names = re.findall(r"^ +\d+ (\S*#\d+) ", shown, re.MULTILINE)
    return {name: name in ", ".join(unasked).split(", ") for name in names}
