"""Running `doppel find`, and reading what it prints."""

from __future__ import annotations

from click.testing import CliRunner, Result

from bot.cli import cli


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["find", *arguments], catch_exceptions=False)


def parts(shown: str) -> tuple[str, str]:
    """What the bot would name, and what else was asked for, which comes after it."""
    answer = shown.partition("\nAsked (")[0]
    named, _, others = answer.partition("\nOther ")
    return named, others
