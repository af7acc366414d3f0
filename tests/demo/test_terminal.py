"""The show for people: readable without colour, in 80 columns, and untouched by what titles contain."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from bot.app.demo.terminal import Lines, Terminal

COMMENT = """<!-- doppel:advice v1 0123456789abcdef -->
**Probably reported before:**

1. [#12](https://redirect.github.com/acme/app/issues/12) Crash at start
   - open

<details>
<summary>How this was found</summary>

- `repo:acme/app is:issue crash` – 3 results

</details>
"""
LONG = "It [red]crashes[/red] " * 9
EVERY_EVENT: dict[str, dict[str, Any]] = {
    "progress": {"what": "starting"},
    "ready": {
        "repository": "acme/app",
        "about": "A project.",
        "issues": 17_492,
        "simulator": "http://127.0.0.1:1",
        "receiver": "http://127.0.0.1:2/webhook",
        "seconds": 2.5,
    },
    "scene_begins": {"number": 1, "total": 6, "heading": "First"},
    "issue_opened": {"number": 13, "title": LONG, "body": "a\n" * 40, "login": "ada"},
    "command_given": {"number": 13, "login": "ada", "text": "/duplicates", "note": "looks again"},
    "commented": {"number": 13, "body": COMMENT, "seconds": 0.6, "unfold": True},
    "edited": {"number": 13, "before": COMMENT, "body": COMMENT.replace("3 results", "4 results"), "seconds": 0.3},
    "replied": {"number": 13, "body": "Noted.", "seconds": 0.3},
    "stayed_silent": {"number": 14, "seconds": 0.4, "reason": "below", "bar": 0.2, "nearest": (12, LONG, 0.04)},
    "issue_closed": {"number": 13, "original": 12, "seconds": 0.5},
    "checked": {"what": "nobody was mentioned"},
    "serving": {"url": "http://127.0.0.1:3/"},
    "finished": {"scenes": 6, "seconds": 20.0},
}


def printed(event: str, terminal: bool = False, **values: Any) -> str:
    out = io.StringIO()
    screen = Terminal(Console(file=out, width=80, force_terminal=terminal), "doppel[bot]")
    getattr(screen, event)(**EVERY_EVENT[event] | values)
    return out.getvalue()


@pytest.mark.parametrize("event", EVERY_EVENT)
def test_every_event_fits_into_80_columns_and_is_plain_where_no_terminal_is(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    text = printed(event)
    assert text.strip() and "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" in printed(event, terminal=True)


def test_a_single_scene_is_told_as_one() -> None:
    assert printed("finished", scenes=1, seconds=2.0).strip() == "✓ 1 scene, as it should be, in 2.0 s"
    assert printed("finished", seconds=2.0).strip() == "✓ 6 scenes, all as they should be, in 2.0 s"


def test_an_issue_of_a_file_cannot_command_the_terminal() -> None:
    assert "It [red]crashes[/red]" in printed("issue_opened") and "16 more lines" in printed("issue_opened")
    hostile = "It \x1b]0;owned\x07\x1b[2Jstops\u202e\x00"
    said = printed("issue_opened", title=hostile, body=f"    {hostile}\n{hostile}", login=hostile)
    said += printed("stayed_silent", nearest=(12, hostile, 0.04))
    assert said.count("stops") == 5
    assert [char for char in said if not char.isprintable() and char != "\n"] == []
    assert "     It" in said, "code keeps its place"


def test_the_fold_is_shown_closed_or_open() -> None:
    opened, folded = printed("commented"), printed("commented", unfold=False)
    assert "▾ How this was found" in opened and "3 results" in opened
    assert "▸ How this was found (folded)" in folded and "3 results" not in folded
    for text in (opened, folded):
        assert "#12 Crash at start" in text
        assert "redirect.github.com" not in text and "doppel:advice" not in text


def test_a_silence_has_its_reason_and_how_near_the_nearest_came() -> None:
    assert "#12 Crash at start, with less than 1%;" in printed("stayed_silent", nearest=(12, "Crash at start", 0.004))
    near = printed("stayed_silent", nearest=(12, "Crash at start", 0.04)).splitlines()[1].strip()
    assert near == "below: #12 Crash at start, with 4%; it takes 20%"
    assert printed("stayed_silent", nearest=None).splitlines()[1].strip() == "below"


def test_for_programs_an_event_is_its_values_with_its_name() -> None:
    told: list[dict[str, Any]] = []
    Lines(told.append).issue_closed(number=13, original=12, seconds=0.5)
    assert told == [{"event": "issue_closed", "number": 13, "original": 12, "seconds": 0.5}]
