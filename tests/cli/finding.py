"""Running `doppel find`, and reading what it prints."""

from __future__ import annotations

import re

from click.testing import CliRunner, Result

from bot.app.cli import cli


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["find", *arguments], catch_exceptions=False)


def listed(shown: str) -> dict[str, bool]:
    """The candidates by name, in order, and whether each has the mark of what the bot would name unasked."""
    return {name: mark == "*" for mark, name in re.findall(r"^([* ]) (\S*#\d+) ", shown, re.MULTILINE)}
