"""Prints the demo's events: formatted with rich for people, or as JSON for programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bot.domain.formats import counted
from bot.platform.local import plain

BODY_LINES = 24
# The `<details>` elements in the bot's texts are on lines of their own and are never nested.
_FOLD = re.compile(r"<details(?: open)?>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


class Lines:
    """Has the methods of Terminal, but outputs each event as a dictionary: the name as `event`, and the values."""

    def __init__(self, put: Callable[[dict[str, Any]], object]) -> None:
        self._put = put

    def __getattr__(self, event: str) -> Callable[..., object]:
        return lambda **values: self._put({"event": event, **values})


class Terminal:
    """Prints each event. `seconds` count from the demo's or first scene's start, the issue's opening or the command."""

    def __init__(self, console: Console, bot: str) -> None:
        self._console, self._bot = console, bot

    def progress(self, *, what: str) -> None:
        self._line("·", what, "dim")

    def ready(self, *, repository: str, about: str, issues: int, simulator: str, receiver: str, seconds: float) -> None:
        self._line("✓", f"ready after {seconds:.1f} s", "green")
        table = Table.grid(padding=(0, 2))
        table.add_row("repository", f"{repository}, {counted(issues, 'issue')}")
        table.add_row("", about)
        table.add_row("GitHub", f"{simulator} (simulated)")
        table.add_row("receiver", f"{receiver} (gunicorn), every delivery signed")
        table.add_row("queue", "SQLite, one worker process")
        self._console.print(Padding(table, (1, 0, 0, 2)))

    def scene_begins(self, *, number: int, total: int, heading: str) -> None:
        self._console.print()
        self._console.print(Rule(f"[bold]{number}/{total}[/] {heading}", align="left", style="cyan"))

    def issue_opened(self, *, number: int, title: str, body: str, login: str) -> None:
        lines = [plain(line) for line in body.splitlines()]
        shown = "\n".join(lines[:BODY_LINES])
        inside = Text(plain(title), style="bold").append(f"\n\n{shown}", style="not bold")
        if len(lines) > BODY_LINES:
            inside.append(f"\n… {len(lines) - BODY_LINES} more lines", style="not bold dim")
        self._panel(inside, f"#{number} opened by {plain(login)}", "", "blue")

    def command_given(self, *, number: int, login: str, text: str, note: str) -> None:
        """A person gave a command in a comment; `note` says why."""
        self._panel(Text(text), f"{login} on #{number}", note, "blue")

    def commented(self, *, number: int, body: str, seconds: float, unfold: bool) -> None:
        """The bot posted the advisory comment; with `unfold` its folded part is shown open."""
        when = f"{seconds:.2f} s after the issue was opened"
        self._panel(comment_markdown(body, unfold), f"{self._bot} commented on #{number}", when, "green")

    def edited(self, *, number: int, before: str, body: str, seconds: float) -> None:
        when = f"{seconds:.2f} s after the command"
        self._panel(comment_markdown(body), f"{self._bot} edited its comment on #{number}", when, "green")

    def replied(self, *, number: int, body: str, seconds: float) -> None:
        when = f"{seconds:.2f} s after the command"
        self._panel(comment_markdown(body), f"{self._bot} replied on #{number}", when, "green")

    def stayed_silent(
        self, *, number: int, seconds: float, reason: str, bar: float, nearest: tuple[int, str, float] | None
    ) -> None:
        """`bar` is the threshold; `nearest` is the likeliest candidate's number, title and probability, if any."""
        self._line("✓", f"{self._bot} looked and said nothing ({seconds:.2f} s after the issue was opened)", "green")
        if nearest is not None:
            other, title, probability = nearest
            likely = f"{probability:.0%}" if probability >= 0.01 else "less than 1%"
            reason += f": #{other} {plain(title)}, with {likely}; the threshold is {bar:.0%}"
        self._console.print(Padding(Text(reason), (0, 0, 0, 2)), style="dim")

    def issue_closed(self, *, number: int, original: int, seconds: float) -> None:
        self._line("✓", f"#{number} is closed as a duplicate of #{original} ({seconds:.2f} s)", "green")

    def checked(self, *, what: str) -> None:
        self._line("✓", what, "green")

    def serving(self, *, url: str) -> None:
        self._line("\n▶", f"the repository is at {url} (Ctrl-C ends it)", "bold green")

    def finished(self, *, scenes: int, seconds: float) -> None:
        played = "1 scene, as it should be" if scenes == 1 else f"{scenes} scenes, all as they should be"
        self._line("\n✓", f"{played}, in {seconds:.1f} s", "bold green")

    def _line(self, mark: str, text: str, style: str) -> None:
        # In a plain string, Rich would take `[red]` for markup.
        self._console.print(Text(f"{mark} {text}", style=style))

    def _panel(self, inside: RenderableType, title: str, note: str, style: str) -> None:
        titles = {"title": Text(title), "title_align": "left", "subtitle": Text(note, "dim"), "subtitle_align": "right"}
        self._console.print(Panel(inside, box.ROUNDED, border_style=style, **titles))  # type: ignore[arg-type]


def comment_markdown(comment: str, unfold: bool = False) -> Markdown:
    """A comment of the bot for rich. Without `unfold`, its folded parts show only their titles."""
    shown = "**▾ \\1**\n\\2" if unfold else "**▸ \\1** (folded)\n"
    return Markdown(_FOLD.sub(shown, comment))
