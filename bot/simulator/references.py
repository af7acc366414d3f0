"""Side effects of a text on GitHub: mentions that notify, references that leave back-links, and "Duplicate of #1".

Tests also use this module, to check that the bot's texts have no side effects. See GitHub's pages "Autolinked
references and URLs" and "Marking issues or pull requests as a duplicate".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Code has no side effects. As in Markdown, an unclosed fence runs to the end of the text, and backticks open no fence
# if another backtick follows in the same line.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$", re.MULTILINE)
# Group 1: backslashes. An odd number escapes the first backtick. Group 2: the run of backticks.
_TICKS = re.compile(r"(?<!\\)(\\*+)(`+)")
_MENTION = re.compile(r"(?<![\w/`@.-])@([a-zA-Z0-9](?:[a-zA-Z0-9_-]{0,38}))(/[a-zA-Z0-9_.-]{1,100})?(?![\w@])")
_NUMBER = re.compile(r"(?<![\w/&#.-])(?:([A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100})?#|GH-)([1-9]\d{0,9})(?!\w)")
# In a Markdown link, only the address counts: GitHub makes no further link of the text. So Renovate's
# `[#12](https://redirect.github.com/…)` leaves no back-link.
_LINKED = re.compile(r"\[[^\[\]]*\]\(([^()\s]*)\)")
_DUPLICATE = re.compile(r"\s*duplicate of\s+(\S{1,300})", re.IGNORECASE)

# A repository's full name (None for the text's own repository), and an issue's number.
Target = tuple[str | None, int]


@dataclass(frozen=True, slots=True)
class References:
    """What a text refers to. `duplicate_of` is set if the text begins with "Duplicate of" and an issue."""

    mentions: tuple[str, ...]
    issues: tuple[Target, ...]
    duplicate_of: Target | None


def parse(text: str, html_url: str = "https://github.com") -> References:
    """Find the references in a Markdown text as GitHub does, as far as they matter to a bot."""
    plain = _LINKED.sub(r" \1 ", _without_html_comments(_without_code(text)))
    link = re.compile(rf"{re.escape(html_url)}/([\w-]{{1,39}}/[\w.-]{{1,100}})/(?:issues|pull)/([1-9]\d{{0,9}})(?!\w)")
    targets: list[Target] = [(match[1], int(match[2])) for match in link.finditer(plain)]
    targets += [(match[1], int(match[2])) for match in _NUMBER.finditer(link.sub(" ", plain))]
    mentions = [match[1] + (match[2] or "") for match in _MENTION.finditer(plain)]
    duplicate = None
    if opening := _DUPLICATE.match(plain):
        word = opening[1].rstrip(".,")
        named = link.fullmatch(word) or _NUMBER.fullmatch(word)
        duplicate = (named[1], int(named[2])) if named else None
    return References(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(targets)), duplicate)


def _without_code(text: str) -> str:
    """The text with fenced blocks and code spans blanked."""
    parts: list[str] = []
    position = 0
    while opening := _FENCE.search(text, position):
        parts.append(text[position : opening.start()])
        mark = opening[1]
        position = len(text)
        for closing in _FENCE.finditer(text, opening.end()):
            if closing[1][0] == mark[0] and len(closing[1]) >= len(mark) and not closing[0].strip(" `~"):
                position = closing.end()
                break
    parts.append(text[position:])
    return _without_spans("\n".join(parts))


def _without_spans(text: str) -> str:
    """The text with code spans blanked. A span goes from a run of backticks to the next run of the same length.

    A backslash keeps a backtick from opening a span. Inside a span, a backslash means nothing.
    """
    runs = list(_TICKS.finditer(text))
    # For each length, the indexes of its runs, last to first.
    by_length: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        by_length.setdefault(len(runs[index][2]), []).append(index)
    parts: list[str] = []
    position = 0
    for index, opening in enumerate(runs):
        escaped_ticks = len(opening[1]) % 2  # 0 or 1
        closing = by_length.get(len(opening[2]) - escaped_ticks, [])
        while closing and closing[-1] <= index:
            closing.pop()
        if opening.start() < position or not closing:
            continue
        parts.append(text[position : opening.start(2) + escaped_ticks])
        position = runs[closing[-1]].end()
    parts.append(text[position:])
    return " ".join(parts)


def _without_html_comments(text: str) -> str:
    """The text with `<!-- … -->` blanked."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        parts.append(text[position:start])
        end = text.find("-->", start + 4)
        position = len(text) if end < 0 else end + 3
    parts.append(text[position:])
    return " ".join(parts)
