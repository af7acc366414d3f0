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


def edited(before: str, after: str) -> RenderableType:
    """An edit of the comment: the comment as it is now, or, where only the fold changed, the lines that did."""
    if _visible(_FOLD.sub("", before)) != _visible(_FOLD.sub("", after)):
        return render(after)
    return changes(before, after)


def changes(before: str, after: str) -> Text:
    """The lines that an edit changed (`~`), put in (`+`) or took out (`-`); what stayed is left out."""
    old, new = _visible(before), _visible(after)
    lines: list[Text] = []
    for what, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if what == "delete":
            lines += [Text(f"- {line}", style="red") for line in old[old_start:old_end]]
        elif what != "equal":
            mark = "~" if what == "replace" else "+"
            lines += [Text(f"{mark} {line}", style="green") for line in new[new_start:new_end]]
    return Text("\n").join(lines)


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
