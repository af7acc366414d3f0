"""The console script: every error is a line that says what to do, and an exit code that scripts can rely on."""

from __future__ import annotations

import click
import pytest
import sqlalchemy as sa

from bot.cli import COMMANDS, EXIT_CODES, cli, main
from bot.errors import InvalidArgument, NotFound, RateLimited


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InvalidArgument("issue", "'x' is not of the form OWNER/REPO#NUMBER"), 2, "OWNER/REPO#NUMBER"),
        (NotFound("read acme/app#1", 404, "Not Found"), 3, "read acme/app#1: 404 Not Found"),
        (RateLimited("used up"), 3, "used up"),
        (sa.exc.OperationalError("SELECT 1", {}, Exception("password=hush")), 3, "database of DATABASE_URL failed"),
        (ZeroDivisionError("hm"), 70, "a fault of Doppel's own (ZeroDivisionError)"),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: Exception, code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def broken() -> None:
        raise error

    monkeypatch.setattr(type(cli), "get_command", lambda *_: broken)
    with pytest.raises(SystemExit) as ended:
        main(["find"])
    assert ended.value.code == code and code in EXIT_CODES
    printed = capsys.readouterr()
    assert text in printed.err and printed.out == "" and "hush" not in printed.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "-h"):
        with pytest.raises(SystemExit) as ended:
            main([name, option])
        assert ended.value.code == 0
        assert f"Usage: doppel {name}" in capsys.readouterr().out
