"""Finds the command lines of a comment: those that a reader of the rendered comment sees as a line of text.

Lines in code or quotes talk about commands. Nobody sees lines in HTML comments and tags, link titles and addresses,
image descriptions and definitions. markdown-it finds all these, with the rules that can hide a line.
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
"""A comment of more lines has no commands: ten thousand blocks take a second to parse.

It is not cut, since a hidden part may end, or a link be defined, behind any place.
"""

BRACKETS_MAX = 4_000
"""Nor has one with more brackets that may begin a link: thirty thousand take two seconds."""

MARKS = ".,;:!。、"
"""Punctuation that may follow a word; full-width marks are made plain first."""

# A slash and a word that begins like ours, so that `/duplicate` and `/dupes` are seen too; our own also with a mark.
_START = re.compile(rf"/(?:du[a-z]{{1,12}}|duplicates[{MARKS}．，；：！])(?!\S)", re.IGNORECASE)
# Marks that keyboards and editors add by themselves. A zero-width space is not among them: people write it on purpose,
# to disarm a command.
_OF_DIRECTION = "\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNSEEN = dict.fromkeys(map(ord, _OF_DIRECTION))
# Within a line they may be what keeps two marks of Markdown apart.
_LEADING = re.compile(rf"^( {{0,3}})[{_OF_DIRECTION}]+(?=[/／])", re.MULTILINE)
# Only the command itself is made plain: full-width signs mean nothing to Markdown, and words to search for stay.
_WIDE = re.compile(r"^ {0,3}(?:／[a-z]|[/／][ａ-ｚ])[a-zａ-ｚ]{0,20}", re.IGNORECASE | re.MULTILINE)
# The end of a word. An underscore is none of it, but Markdown for slanted letters.
_ENDS = r"(?![^\W_])"
# Characters that tell one command from another: no search takes more, and comparing all took half a minute.
_TELLING_MAX = 400
# More HTML comments between the words of a line are an attack.
_COMMENTS_MAX = 20
_INDENT = re.compile(r" {0,3}(?=[/@])")
# The App's own name and the command's word, as people write who command other bots.
_MENTION = re.compile(r"@([A-Za-z0-9-]{1,40})(?:\[bot\])?[,:]? +dup(?:licates)?(?!\S)", re.IGNORECASE)
# Python has more spaces than Markdown and browsers; for these, the others are letters.
_SPACES = dict.fromkeys((*range(0x1C, 0x20), *map(ord, "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")), "\ufffc")
_SPACES |= dict.fromkeys(range(0x2000, 0x200B), "\ufffc") | dict.fromkeys(map(ord, "\v\f"), " ")
_BLOCKS = ["blockquote", "code", "fence", "heading", "hr", "html_block", "lheading", "list", "reference"]
_INLINE = ["autolink", "backticks", "escape", "html_inline", "image", "link", "newline"]
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
# As GitHub looks for formulas in what Markdown has made: their text may be one that is not shown.
_FORMULA = re.compile(r"(?<!\S)\$(?:\$|(?=\S))"), re.compile(r"(?:\$|(?<=\S))\$(?!\w)")


def command_lines(body: str, app: str = "") -> list[str]:
    """The trimmed lines that begin with a command word after at most three spaces.

    `app` is the App's name, after which `duplicates` is a command word too; may be empty.
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
    """Whether a command's line that a body has `now` stood there at least as often `before` its edit.

    Any place counts: code, quotes, HTML comments, or a line with such comments in it. A very long line is known by its
    beginning.
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
    """Whether a reader sees the line from that place on; assumed behind very many comments."""
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
    """Where the pieces of a line outside HTML comments begin and end; the last is empty if a comment ends later."""
    while at < end and (start := text.find("<!--", at, end)) >= 0 and (stop := text.find("-->", start + 4)) >= 0:
        yield at, start
        at = stop + 3
    yield at, max(at, end)


class _Paragraph:
    """A paragraph's text for Markdown, and its lines in the comment.

    Only the lines still have what Markdown removes, such as the dash of a list, so they tell whether a line begins with
    the command.
    """

    def __init__(self, content: str, source: list[str]) -> None:
        self._content, self._source = content, source
        begin, end = (list(one.finditer(content)) for one in _FORMULA)
        self._formula = (begin[0].start(), end[-1].start()) if begin and end else (0, 0)

    def command(self, at: int, app: str) -> str:
        """The line at that place without its HTML comments; empty if it is no command."""
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
    """Note a line that begins with a slash or a name, and leave the rest to Markdown."""
    text, at = state.src, state.pos
    if text[at] not in "/@" or text[max(0, at - 4) : at].rstrip(" ")[-1:] not in ("", "\n"):
        return False
    if not silent:
        state.push("slash", "", 0).meta = {"at": at}
    state.pos += 1
    return True


def _depth(state: StateInline, silent: bool) -> bool:
    """Note that brackets nest so deeply that markdown-it no longer recognises links."""
    if state.level >= state.md.options["maxNesting"]:
        state.env[_TOO_DEEP] = True
    return False


def _footnote(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Skip a footnote, which GitHub shows elsewhere or not at all."""
    at = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not _FOOTNOTE.match(state.src, at):
        return False
    if not silent:
        state.line = next((line for line in range(first + 1, end) if state.isEmpty(line)), end)
    return True
