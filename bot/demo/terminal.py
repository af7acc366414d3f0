"""The show for people: each event as rich prints it, readable without colour, in 80 columns and in a log."""

from __future__ import annotations

from functools import singledispatchmethod

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bot.counted import counted
from bot.demo import terminal_markdown
from bot.demo.events import (
    Checked,
    CommandGiven,
    Commented,
    Edited,
    Event,
    Finished,
    IssueClosed,
    IssueOpened,
    Progress,
    Ready,
    Replied,
    SceneBegins,
    Serving,
    StayedSilent,
)
from bot.machine.terminal import plain

BODY_LINES = 24


class Terminal:
    """Prints events. `bot_login` is the name that the bot comments under."""

    def __init__(self, console: Console, bot_login: str) -> None:
        self._console, self._bot = console, bot_login

    def show(self, event: Event) -> None:
        """Print one event."""
        self._show(event)

    @singledispatchmethod
    def _show(self, event: object) -> None:
        raise TypeError(f"no way to show {event!r}")

    @_show.register
    def _(self, event: Progress) -> None:
        self._line("·", event.what, "dim")

    @_show.register
    def _(self, event: Ready) -> None:
        self._line("✓", f"ready after {event.seconds:.1f} s", "green")
        table = Table.grid(padding=(0, 2))
        table.add_row("repository", f"{event.repository}, {counted(event.issues, 'issue')}")
        table.add_row("", event.about)
        table.add_row("GitHub", f"{event.simulator} (simulated)")
        table.add_row("receiver", f"{event.receiver} (gunicorn), every delivery signed")
        table.add_row("queue", f"{event.database}, one worker process")
        self._console.print(Padding(table, (1, 0, 0, 2)))

    @_show.register
    def _(self, event: SceneBegins) -> None:
        self._console.print()
        self._console.print(Rule(f"[bold]{event.number}/{event.total}[/] {event.heading}", align="left", style="cyan"))

    @_show.register
    def _(self, event: IssueOpened) -> None:
        lines = [plain(line) for line in event.body.splitlines()]
        shown = "\n".join(lines[:BODY_LINES])
        inside = Text(plain(event.title), style="bold").append(f"\n\n{shown}", style="not bold")
        if len(lines) > BODY_LINES:
            inside.append(f"\n… {len(lines) - BODY_LINES} more lines", style="not bold dim")
        self._panel(inside, f"#{event.number} opened by {plain(event.login)}", "", "blue")

    @_show.register
    def _(self, event: CommandGiven) -> None:
        self._panel(Text(event.text), f"{event.login} on #{event.number}", event.note, "blue")

    @_show.register
    def _(self, event: Commented) -> None:
        inside = terminal_markdown.render(event.body, unfold=event.unfold)
        self._said(inside, f"commented on #{event.number}", f"{event.seconds:.2f} s after the issue was opened")

    @_show.register
    def _(self, event: Edited) -> None:
        inside = terminal_markdown.edited(event.before, event.body)
        self._said(inside, f"edited its comment on #{event.number}", f"{event.seconds:.2f} s after the command")

    @_show.register
    def _(self, event: Replied) -> None:
        inside = terminal_markdown.render(event.body)
        self._said(inside, f"replied on #{event.number}", f"{event.seconds:.2f} s after the command")

    def _said(self, inside: RenderableType, what: str, when: str) -> None:
        self._panel(inside, f"{self._bot} {what}", when, "green")

    @_show.register
    def _(self, event: StayedSilent) -> None:
        self._line(
            "✓", f"{self._bot} looked and said nothing ({event.seconds:.2f} s after the issue was opened)", "green"
        )
        says = event.reason
        if event.nearest is not None:
            number, title, probability = event.nearest
            says += f": #{number} {plain(title)}, with {_percent(probability)}; it takes {event.bar:.0%}"
        self._console.print(Padding(Text(says), (0, 0, 0, 2)), style="dim")

    @_show.register
    def _(self, event: IssueClosed) -> None:
        self._line(
            "✓", f"#{event.number} is closed as a duplicate of #{event.original} ({event.seconds:.2f} s)", "green"
        )

    @_show.register
    def _(self, event: Checked) -> None:
        self._line("✓", event.what, "green")

    @_show.register
    def _(self, event: Serving) -> None:
        self._console.print()
        self._line("▶", f"the repository is at {event.url} (Ctrl-C ends it)", "bold green")

    @_show.register
    def _(self, event: Finished) -> None:
        self._console.print()
        played = "1 scene, as it should be" if event.scenes == 1 else f"{event.scenes} scenes, all as they should be"
        self._line("✓", f"{played}, in {event.seconds:.1f} s", "bold green")

    def _line(self, mark: str, text: str, style: str) -> None:
        # Text and not markup: titles are other people's words, and `[red]` in one must stay what it is.
        self._console.print(Text(f"{mark} {text}", style=style))

    def _panel(self, inside: RenderableType, title: str, subtitle: str, style: str) -> None:
        self._console.print(
            Panel(
                inside,
                title=Text(title),
                subtitle=Text(subtitle, style="dim"),
                title_align="left",
                subtitle_align="right",
                border_style=style,
                box=box.ROUNDED,
            )
        )


def _percent(probability: float) -> str:
    return f"{probability:.0%}" if probability >= 0.01 else "less than 1%"
