"""The show for people is untouched by what titles contain; in test_demo_command.py it fits into 80 plain columns."""

from __future__ import annotations

import io

from rich.console import Console

from bot.app.demo.terminal import Terminal


def opened(title: str, body: str, login: str) -> str:
    """What is shown of an issue that is opened, and that is then the nearest of another one."""
    out = io.StringIO()
    screen = Terminal(Console(file=out, width=80), "doppel[bot]")
    screen.issue_opened(number=13, title=title, body=body, login=login)
    screen.stayed_silent(number=14, seconds=0.4, reason="below", bar=0.2, nearest=(13, title, 0.04))
    return out.getvalue()


def test_an_issue_of_a_file_cannot_command_the_terminal() -> None:
    said = opened("It [red]crashes[/red] " * 9, "a\n" * 40, "ada")
    assert "It [red]crashes[/red]" in said and "16 more lines" in said
    assert max(map(len, said.splitlines())) <= 80
    hostile = "It \x1b]0;owned\x07\x1b[2Jstops\u202e\x00"
    said = opened(hostile, f"    {hostile}\n{hostile}", hostile)
    assert said.count("stops") == 5
    assert [char for char in said if not char.isprintable() and char != "\n"] == []
    assert "     It" in said, "code keeps its place"
