"""Which lines of a comment are commands: those that a reader of the rendered comment would see as a line of text.

What stands in code or quotes is talk about commands and not a command. Nor is what nobody sees: in HTML comments and
tags, in the title or the address of a link, in the description of an image, in definitions. markdown-it finds all that,
by the rules that can hide a line; the others change nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from bot.domain.entities import BODY_MAX
from bot.text.invisible import UNFINISHED, hidden_by
from bot.text.titles import plain

LINES_MAX = 6_000
"""A comment of more lines has no commands. Each can be a block of its own, and ten thousand of those take a second.

It is not cut: what hides a line may end, and what is named in it may be defined, behind any place.
"""

BRACKETS_MAX = 4_000
"""Nor has one with more of the brackets that may begin a link, of which thirty thousand take two seconds."""

MARKS = ".,;:!。、"
"""What ends a word where people write a sentence; the full-width ones of these marks are to be made plain first."""

# A slash and a word that begins like ours, so that `/duplicate` and `/dupes` are seen too; our own also with a mark.
_START = re.compile(rf"/(?:du[a-z]{{1,12}}|duplicates[{MARKS}．，；：！])(?!\S)", re.IGNORECASE)
# What keyboards and editors put before a line, or around a number in a text from right to left, without being asked. A
# zero-width space is not among them: people write it on purpose, so that a command is none.
_OF_DIRECTION = "\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNSEEN = dict.fromkeys(map(ord, _OF_DIRECTION))
# Within a line they may be what keeps two marks of Markdown apart.
_LEADING = re.compile(rf"^( {{0,3}})[{_OF_DIRECTION}]+(?=[/／])", re.MULTILINE)
# Only the command itself is made plain: full-width signs mean nothing to Markdown, and words to search for stay.
_WIDE = re.compile(r"^ {0,3}(?:／[a-z]|[/／][ａ-ｚ])[a-zａ-ｚ]{0,20}", re.IGNORECASE | re.MULTILINE)
# The end of a word. An underscore is none of it, but Markdown for slanted letters.
_ENDS = r"(?![^\W_])"
# So many characters tell one command from another: no search takes more. To compare tens of thousands at each of
# thousands of places took half a minute.
_TELLING_MAX = 400
# Nobody who only wants to say something to other people puts so many comments between the words of a line.
_COMMENTS_MAX = 20
_INDENT = re.compile(r" {0,3}(?=[/@])")
# The App's own name and the command's word, as people write who command other bots.
_MENTION = re.compile(r"@([A-Za-z0-9-]{1,40})(?:\[bot\])?[,:]? +dup(?:licates)?(?!\S)", re.IGNORECASE)
# For Markdown and browsers, nothing but these parts words; what Python takes for a space as well is a letter to them.
_SPACES = dict.fromkeys((*range(0x1C, 0x20), *map(ord, "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")), "\ufffc")
_SPACES |= dict.fromkeys(range(0x2000, 0x200B), "\ufffc") | dict.fromkeys(map(ord, "\v\f"), " ")
_BLOCKS = ["blockquote", "code", "fence", "heading", "hr", "html_block", "lheading", "list", "reference"]
_INLINE = ["autolink", "backticks", "escape", "html_inline", "image", "link", "newline"]
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
# As GitHub looks for formulas in what Markdown has made: their text may be one that is not shown.
_FORMULA = re.compile(r"(?<!\S)\$(?:\$|(?=\S))"), re.compile(r"(?:\$|(?<=\S))\$(?!\w)")


def command_lines(body: str, app: str = "") -> list[str]:
    """The lines that begin with a command word after at most three spaces, trimmed, in their order.

    `app` is the App's name, after which `duplicates` is a command word too; empty where that is not asked for.
    """
    body = body[:BODY_MAX].replace("\r\n", "\n").replace("\r", "\n")
    body = _LEADING.sub(r"\1", body)
    body = _WIDE.sub(lambda word: plain(word[0]), body)
    read = body.translate(_UNSEEN).lower()
    if (
        not ("/du" in read or (app and f"@{app.lower()}" in read))
        or body.count("\n") >= LINES_MAX
        or body.count("[") > BRACKETS_MAX
    ):
        return []
    source = body.split("\n")
    env: dict[str, bool] = {}
    found: list[str] = []
    quotes, hidden = 0, ""
    for token in _markdown().parse(body.translate(_SPACES), env):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "inline" and token.map:
            lines = _Paragraph(token.content, source[slice(*token.map)])
            for child in token.children or ():
                if child.type == "html_inline":
                    hidden = hidden_by(child.content, hidden)
                elif (
                    child.type == "slash"
                    and not quotes
                    and not hidden
                    and (line := lines.command(child.meta["at"], app))
                ):
                    found.append(line)
        elif token.type == "html_block":
            hidden = hidden_by(token.content, hidden)
        if hidden == UNFINISHED:
            break
    return [] if _TOO_DEEP in env else found


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


class _Paragraph:
    """The text of a paragraph for Markdown, and the lines that it has in the comment.

    The former has lost what stood before it, such as the dash of a list, so the latter have the last word on whether a
    line begins with the command.
    """

    def __init__(self, content: str, source: list[str]) -> None:
        self._content, self._source = content, source
        begin, end = (list(one.finditer(content)) for one in _FORMULA)
        self._formula = (begin[0].start(), end[-1].start()) if begin and end else (0, 0)

    def command(self, at: int, app: str) -> str:
        """The line that begins at that place, without the HTML comments in it; empty where it is no command."""
        row = self._content.count("\n", 0, at)
        line = self._source[row]
        start = _INDENT.match(line)
        if (
            start is None
            or self._formula[0] < at < self._formula[1]
            or not _begins(line.translate(_UNSEEN), start.end(), app)
        ):
            return ""
        # A comment that ends in a later line hides the rest of this one.
        text = "\n".join(self._source[row:]) if "<!--" in line else line
        seen = (text[begin:end].translate(_UNSEEN).strip() for begin, end in _visible(text, start.end(), len(line)))
        return " ".join(seen).strip()


def _begins(line: str, at: int, app: str) -> bool:
    """Whether a line has a command's word at that place."""
    called = _MENTION.match(line, at)
    return bool(_START.match(line, at)) or (called is not None and called[1].lower() == app.lower())


_TOO_DEEP = "too deep"


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("zero", {"html": True}).enable([*_BLOCKS, *_INLINE])
    markdown.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    markdown.inline.ruler.before("text", "depth", _depth)
    markdown.inline.ruler.before("text", "slash", _slash)
    # Wherever it leads, a link is one, whose title is not seen.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return markdown


def _slash(state: StateInline, silent: bool) -> bool:
    """Note a line that begins with a slash or a name. No more of it is taken: the rest counts for Markdown."""
    text, at = state.src, state.pos
    if text[at] not in "/@" or text[max(0, at - 4) : at].rstrip(" ")[-1:] not in ("", "\n"):
        return False
    if not silent:
        state.push("slash", "", 0).meta = {"at": at}
    state.pos += 1
    return True


def _depth(state: StateInline, silent: bool) -> bool:
    """Note that brackets are within others so often that markdown-it looks no further, and tells no link from text."""
    if state.level >= state.md.options["maxNesting"]:
        state.env[_TOO_DEEP] = True
    return False


def _footnote(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Skip a footnote, which GitHub shows elsewhere or, where nothing refers to it, not at all."""
    at = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not _FOOTNOTE.match(state.src, at):
        return False
    if not silent:
        state.line = next((line for line in range(first + 1, end) if state.isEmpty(line)), end)
    return True
