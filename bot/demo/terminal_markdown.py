"""A GitHub comment for the terminal: its Markdown rendered, its folded part shown as folded or open."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

# The bot's own folds stand on lines of their own; nested ones it does not write.
_FOLD = re.compile(r"<details(?: open)?>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_TAG = re.compile(r"</?[a-z][a-z0-9]*>")


def render(markdown: str, *, unfold: bool = False) -> Group:
    """The comment as rich shows it; `unfold` opens what GitHub shows folded."""
    return Group(*_parts(markdown, unfold))


def changes(before: str, after: str) -> Text:
    """What an edit of the comment took out and put in, line by line; what stayed is left out."""
    lines = [line for line in difflib.ndiff(_visible(before), _visible(after)) if line[0] in "+-"]
    styles = {"+": "green", "-": "red"}
    return Text("\n").join(Text(line, style=styles[line[0]]) for line in lines)


def _visible(markdown: str) -> list[str]:
    """The lines that people see, with links reduced to their text."""
    lines = (_LINK.sub(r"\1", line).rstrip() for line in markdown.splitlines())
    return [line for line in lines if line and not line.startswith("<")]


def _parts(markdown: str, unfold: bool) -> Iterator[RenderableType]:
    end = 0
    for fold in _FOLD.finditer(markdown):
        yield from _markdown(markdown[end : fold.start()])
        summary = _TAG.sub("", fold[1]).strip()
        yield Text(f"{'▾' if unfold else '▸'} {summary}{'' if unfold else ' (folded)'}", style="bold cyan")
        if unfold:
            yield from (Padding(part, (0, 0, 0, 2)) for part in _markdown(fold[2]))
        end = fold.end()
    yield from _markdown(markdown[end:])


def _markdown(text: str) -> Iterator[RenderableType]:
    if text.strip():
        # Links become links where the terminal can do that; printed addresses would fill half of 80 columns.
        yield Markdown(text, hyperlinks=True)
