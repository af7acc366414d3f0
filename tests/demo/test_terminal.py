"""The show for people: readable without colour, in 80 columns, and untouched by what titles contain."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.demo import events
from bot.demo.events import Event, to_json
from bot.demo.terminal import Terminal
from bot.demo.terminal_markdown import changes

COMMENT = """<!-- doppel:advice v1 0123456789abcdef -->
**Probably reported before:**

1. [#12](https://redirect.github.com/acme/app/issues/12) Crash at start
   - open

<details>
<summary>How this was found</summary>

- `repo:acme/app is:issue crash` – 3 results

</details>
"""
EVERY_EVENT: list[Event] = [
    events.Progress("starting"),
    events.Ready("acme/app", "A project.", 17_492, "http://127.0.0.1:1", "http://127.0.0.1:2/webhook", "SQLite", 2.5),
    events.SceneBegins(1, 6, "First"),
    events.IssueOpened(13, "It [red]crashes[/red] " * 9, "a\n" * 40, "ada"),
    events.CommandGiven(13, "ada", "/duplicates", "looks again"),
    events.Commented(13, COMMENT, 0.6, unfold=True),
    events.Edited(13, COMMENT, COMMENT.replace("3 results", "4 results"), 0.3),
    events.Replied(13, "Noted.", 0.3),
    events.StayedSilent(14, 0.4, "the best was below the threshold", 0.2, (12, "It [red]crashes[/red] " * 9, 0.04)),
    events.IssueClosed(13, 12, 0.5),
    events.Checked("nobody was mentioned"),
    events.Serving("http://127.0.0.1:3/"),
    events.Finished(6, 20.0),
]


def printed(*shown: Event, terminal: bool = False) -> str:
    out = io.StringIO()
    screen = Terminal(Console(file=out, width=80, force_terminal=terminal), "doppel[bot]")
    for event in shown:
        screen.show(event)
    return out.getvalue()


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda event: type(event).__name__)
def test_every_event_fits_into_80_columns_and_is_plain_where_no_terminal_is(
    event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    text = printed(event)
    assert text.strip() and "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" in printed(event, terminal=True)


def test_a_single_scene_is_told_as_one() -> None:
    assert printed(events.Finished(1, 2.0)).strip() == "✓ 1 scene, as it should be, in 2.0 s"
    assert printed(events.Finished(6, 2.0)).strip() == "✓ 6 scenes, all as they should be, in 2.0 s"


def test_a_title_is_not_read_as_markup() -> None:
    assert "It [red]crashes[/red]" in printed(EVERY_EVENT[3])
    assert "16 more lines" in printed(EVERY_EVENT[3])


def test_an_issue_of_a_file_cannot_command_the_terminal() -> None:
    hostile = "It \x1b]0;owned\x07\x1b[2Jstops\u202e\x00"
    said = printed(
        events.IssueOpened(13, hostile, f"    {hostile}\n{hostile}", hostile),
        events.StayedSilent(14, 0.4, "the best was below the threshold", 0.2, (12, hostile, 0.04)),
    )
    assert said.count("stops") == 5
    assert [char for char in said if not char.isprintable() and char != "\n"] == []
    assert "     It" in said, "code keeps its place"


def test_the_fold_is_shown_closed_or_open() -> None:
    opened = printed(events.Commented(13, COMMENT, 0.6, unfold=True))
    folded = printed(events.Commented(13, COMMENT, 0.6, unfold=False))
    assert "▾ How this was found" in opened and "3 results" in opened
    assert "▸ How this was found (folded)" in folded and "3 results" not in folded
    for text in (opened, folded):
        assert "#12 Crash at start" in text
        assert "redirect.github.com" not in text and "doppel:advice" not in text


def test_an_edit_of_the_fold_shows_the_lines_that_changed() -> None:
    after = COMMENT.replace("3 results", "3 results, [Cached result from 10:23:45 AM]").replace("0123", "ffff")
    assert changes(COMMENT, after).plain.splitlines() == [
        "~ - `repo:acme/app is:issue crash` – 3 results, [Cached result from 10:23:45 AM]"
    ]
    assert changes(COMMENT, COMMENT.replace("   - open\n", "")).plain.splitlines() == ["-    - open"]
    assert "Crash at start" not in printed(events.Edited(13, COMMENT, after, 0.3))


def test_an_edit_of_what_is_always_seen_shows_the_comment_anew() -> None:
    text = printed(events.Edited(13, COMMENT, COMMENT.replace("   - open\n", "   - closed\n"), 0.3))
    assert "#12 Crash at start" in text and "(folded)" in text


def test_a_silence_has_its_reason_and_how_near_the_nearest_came() -> None:
    near = events.StayedSilent(14, 0.4, "the best was below the threshold", 0.2, (12, "Crash at start", 0.04))
    far = events.StayedSilent(14, 0.4, "the best was below the threshold", 0.2, (12, "Crash at start", 0.004))
    assert "#12 Crash at start, with less than 1%;" in printed(far)
    nothing = events.StayedSilent(15, 0.4, "nothing was found", 0.2, None)
    assert printed(near).splitlines()[1].strip() == (
        "the best was below the threshold: #12 Crash at start, with 4%; it takes 20%"
    )
    assert printed(nothing).splitlines()[1].strip() == "nothing was found"


def test_json_names_the_event_and_holds_its_fields() -> None:
    assert to_json(events.IssueClosed(13, 12, 0.5)) == {
        "event": "issue_closed",
        "number": 13,
        "original": 12,
        "seconds": 0.5,
    }
    assert len({to_json(event)["event"] for event in EVERY_EVENT}) == len(EVERY_EVENT)
