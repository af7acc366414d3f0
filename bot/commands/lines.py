"""Which lines of a comment are commands: those that a reader of the rendered comment would see as a line of text.

What stands in code blocks, code spans, quotes or HTML comments is talk about commands and not a command. markdown-it
finds the blocks; of the inline rules only those are on that can hide a line, because the others cost quadratic time on
hostile text and change nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bot.model import BODY_MAX
from bot.text.full_width import plain

LINES_MAX = 6_000
"""Lines of a comment that are looked at. Each can be a block of its own, and ten thousand of those take a second."""

MARKS = ".,;:!。、"
"""What ends a word where people write a sentence; the full-width ones of these marks are to be made plain first."""

# A slash and a word that begins like ours, so that `/duplicate` and `/dupes` are seen too; our own also with a mark.
_START = re.compile(rf"/(?:du[a-z]{{1,12}}|duplicates[{MARKS}．，；：！])(?!\S)", re.IGNORECASE)
# What keyboards and editors put before a line, or around a number in a text from right to left, without being asked. A
# zero-width space is not among them: people write it on purpose, so that a command is none.
_UNSEEN = dict.fromkeys(map(ord, "\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
# Only the command itself is made plain: full-width signs mean nothing to Markdown, and words to search for stay.
_WIDE = re.compile(r"^ {0,3}(?:／[a-z]|[/／][ａ-ｚ])[a-zａ-ｚ]{0,20}", re.IGNORECASE | re.MULTILINE)
# The end of a word. An underscore is none of it, but Markdown for slanted letters.
_ENDS = r"(?![^\W_])"
# So many characters tell one command from another: no search takes more. To compare tens of thousands at each of
# thousands of places took half a minute.
_TELLING_MAX = 400
# Nobody who only wants to say something to other people puts so many comments between the words of a line.
_COMMENTS_MAX = 20
_INDENT = re.compile(r" {0,3}/")
_BLOCKS = ["blockquote", "code", "fence", "heading", "hr", "html_block", "lheading", "list"]


def command_lines(body: str) -> list[str]:
    """The lines that begin with a command word after at most three spaces, trimmed, in their order."""
    body = body[:BODY_MAX].translate(_UNSEEN).replace("\r\n", "\n").replace("\r", "\n")
    body = _WIDE.sub(lambda word: plain(word[0]), body)
    if "/du" not in body.lower():
        return []
    source = body.split("\n")[:LINES_MAX]
    found: list[str] = []
    quotes = 0
    for token in _markdown().parse("\n".join(source)):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "inline" and not quotes and token.map:
            found += _of_paragraph(token, source, *token.map)
    return found


def is_written(line: str, before: str, now: str) -> bool:
    """Whether a command's line that a body has `now` was there `before` its edit, no more seldom, wherever that was: in
    code, a quote or an HTML comment, or with such comments in it. Of a longer command its beginning is found as well,
    both times; one that is very long is known by its beginning alone.
    """
    wanted = _flat(line)[:_TELLING_MAX]
    return any(0 < count(wanted, before) >= count(wanted, now) for count in (_written, _written_past_comments))


def _written(line: str, text: str) -> int:
    return len(_telling(line).findall(_flat(text)))


def _written_past_comments(line: str, text: str) -> int:
    # Full-width signs make no HTML comment, so that only what stands between comments is made plain.
    text = " ".join(text[:BODY_MAX].translate(_UNSEEN).split())
    word = line.partition(" ")[0]
    return sum(_reads(line, text, found.start()) for found in re.finditer(re.escape(word), plain(text)))


def _reads(line: str, text: str, at: int) -> bool:
    """Whether from that place on the line is what a reader sees. Behind a great many comments it is taken to be."""
    seen = ""
    for comments, (begin, end) in enumerate(_visible(text, at, len(text))):
        if comments > _COMMENTS_MAX:
            return True
        # So much of a piece tells; it may be as long as the text.
        seen = _flat(f"{seen} {text[begin : min(end, begin + len(line) + 4)]}")
        if len(seen) > len(line) or not line.startswith(seen):
            break
    return _telling(line).match(seen) is not None


def _telling(line: str) -> re.Pattern[str]:
    # What was cut can have been so in the middle of a word.
    return re.compile(re.escape(line) + (_ENDS if len(line) < _TELLING_MAX else ""))


def _flat(text: str) -> str:
    return " ".join(plain(text[:BODY_MAX].translate(_UNSEEN)).split())


def _visible(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the pieces of a line begin and end that no HTML comment hides; the last is empty where one ends later."""
    while at < end and (start := text.find("<!--", at, end)) >= 0 and (stop := text.find("-->", start + 4)) >= 0:
        yield at, start
        at = stop + 3
    yield at, max(at, end)


def _of_paragraph(paragraph: Token, source: list[str], first: int, end: int) -> list[str]:
    """The commands of one paragraph.

    Its text has lost what stood before it, such as the dash of a list, so the source has the last word on whether the
    line begins with the command. Whole lines are lost where these hold nothing but no-break spaces and the like.
    """
    begin = paragraph.content.partition("\n")[0]
    first = next((at for at in range(first, end) if begin in source[at]), first)
    found = []
    for token in paragraph.children or ():
        if token.type == "command":
            line = source[first + paragraph.content.count("\n", 0, token.meta["at"])]
            if _INDENT.match(line):
                found.append(token.content)
    return found


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("zero", {"html": True}).enable([*_BLOCKS, "backticks", "escape", "newline"])
    markdown.inline.ruler.before("text", "command", _command)
    markdown.inline.ruler.before("text", "html_comment", _html_comment)
    return markdown


def _command(state: StateInline, silent: bool) -> bool:
    """Take a line that begins with a command word as a whole, so that nothing in it opens a code span.

    HTML comments in it are no part of the command; one that ends in a later line hides what stands there.
    """
    match = _START.match(state.src, state.pos)
    if match is None or not _at_line_start(state.src, state.pos):
        return False
    at, text = state.pos, state.src
    end = text.find("\n", at)
    pieces = list(_visible(text, at, state.posMax if end < 0 else end))
    if not silent:
        token = state.push("command", "", 0)
        token.content = " ".join(text[begin:stop].strip() for begin, stop in pieces).strip()
        token.meta = {"at": at}
    state.pos = pieces[-1][1]
    return True


def _at_line_start(text: str, at: int) -> bool:
    before = at
    while before > 0 and at - before <= 3 and text[before - 1] == " ":
        before -= 1
    return before == 0 or text[before - 1] == "\n"


def _html_comment(state: StateInline, silent: bool) -> bool:
    """Skip `<!-- … -->` inside a paragraph, which can run over several lines."""
    if not state.src.startswith("<!--", state.pos):
        return False
    end = state.src.find("-->", state.pos + 4)
    if end < 0:
        return False
    state.pos = end + 3
    return True
