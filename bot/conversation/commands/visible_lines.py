"""Finds the command lines of a comment: the lines that a reader of the rendered comment sees as text.

A line in code or in a quote only talks about a command. Readers do not see HTML comments, tags,
image descriptions, link definitions, or the title and address of a link. markdown-it finds them.
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
"""In a comment with more lines, commands are ignored: each line may be a block, and parsing ten thousand blocks takes a
second. Parsing only the first lines could miss the end of a hidden part, or the definition of a link."""

BRACKETS_MAX = 4_000
"""In a comment with more brackets that may begin a link, commands are ignored too: thirty thousand take two seconds."""

MARKS = ".,;:!。、"
"""Punctuation that may follow a command's word. `plain` turns the full-width `．，；：！` into the first five marks."""

# A slash and a word that begins with "du", such as `/duplicate` or `/dupes`; or `/duplicates` before one of MARKS.
_START = re.compile(rf"/(?:du[a-z]{{1,12}}|duplicates[{MARKS}．，；：！])(?!\S)", re.IGNORECASE)
# Invisible characters that keyboards and editors insert unasked. The zero-width space is left out,
# since people insert it on purpose, so that a command has no effect.
_INVISIBLE = "\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_WITHOUT_INVISIBLE = dict.fromkeys(map(ord, _INVISIBLE))
# Invisible characters before a command, to remove. Elsewhere, removing one could join two marks of Markdown.
_LEADING = re.compile(rf"^( {{0,3}})[{_INVISIBLE}]+(?=[/／])", re.MULTILINE)
# A command's word in full-width characters, which becomes ASCII. The rest of the line stays: search
# words stay as they were written, and full-width punctuation must not become marks of Markdown.
_FULL_WIDTH = re.compile(r"^ {0,3}(?:／[a-z]|[/／][ａ-ｚ])[a-zａ-ｚ]{0,20}", re.IGNORECASE | re.MULTILINE)
# The end of a word: no letter or digit follows. An underscore may follow, as Markdown's mark for emphasis.
_END_OF_WORD = r"(?![^\W_])"
# `predates_edit` compares this many characters of a line. Comparing whole lines took half a minute.
_COMPARED_MAX = 400
# A line with more HTML comments than this between its words is an attack.
_COMMENTS_MAX = 20
_INDENT = re.compile(r" {0,3}(?=[/@])")
# `@doppel duplicates` or `@doppel[bot], dup`, with any App's name; `_begins` checks the name.
_MENTION = re.compile(r"@([A-Za-z0-9-]{1,40})(?:\[bot\])?[,:]? +dup(?:licates)?(?!\S)", re.IGNORECASE)
# Python and markdown-it take these characters for spaces. GitHub takes only two of them for spaces,
# `\v` and `\f`: these two become ordinary spaces, and the others a character that is no space.
_SPACES = dict.fromkeys((*range(0x1C, 0x20), *map(ord, "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000")), "\ufffc")
_SPACES |= dict.fromkeys(range(0x2000, 0x200B), "\ufffc") | dict.fromkeys(map(ord, "\v\f"), " ")
_BLOCKS = ["blockquote", "code", "fence", "heading", "hr", "html_block", "lheading", "list", "reference"]
_INLINE = ["autolink", "backticks", "escape", "html_inline", "image", "link", "newline"]
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
# The beginning and the end of a formula, such as `$x$` or `$$x$$`. GitHub may not show a formula's text.
_FORMULA_BEGIN, _FORMULA_END = re.compile(r"(?<!\S)\$(?:\$|(?=\S))"), re.compile(r"(?:\$|(?<=\S))\$(?!\w)")


def command_lines(body: str, app: str = "") -> list[str]:
    """The trimmed lines of a comment that begin with a command's word after at most three spaces.

    If `app`, the App's name, is not empty, a mention of it with `duplicates` or `dup` begins a command too.
    """
    body = body[:BODY_MAX].replace("\r\n", "\n").replace("\r", "\n")
    body = _LEADING.sub(r"\1", body)
    body = _FULL_WIDTH.sub(lambda word: plain(word[0]), body)
    text = body.translate(_WITHOUT_INVISIBLE).lower()
    if (
        not ("/du" in text or (app and f"@{app.lower()}" in text))
        or body.count("\n") >= LINES_MAX
        or body.count("[") > BRACKETS_MAX
    ):
        return []
    source = body.split("\n")
    env: dict[str, bool] = {}
    found: list[str] = []
    # `hidden` names the element that hides the following text, or is UNFINISHED after a tag or comment without an end.
    quote_depth, hidden = 0, ""
    for token in _markdown().parse(body.translate(_SPACES), env):
        quote_depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type == "inline" and token.map:
            first, after_last = token.map
            paragraph = _Paragraph(token.content, source[first:after_last])
            for child in token.children or ():
                if child.type == "html_inline":
                    hidden = hidden_by(child.content, hidden)
                # `_note_line_start` adds a "line_start" where a line begins with `/` or `@`.
                elif (
                    child.type == "line_start"
                    and not quote_depth
                    and not hidden
                    and (line := paragraph.command(child.meta["at"], app))
                ):
                    found.append(line)
        elif token.type == "html_block":
            hidden = hidden_by(token.content, hidden)
        if hidden == UNFINISHED:
            break
    return [] if _TOO_DEEP in env else found


def predates_edit(line: str, before: str, now: str) -> bool:
    """Whether a command's line is older than the comment's edit.

    The text `before` must have the line, and at least as often as the text `now`. Lines in code, in quotes and in HTML
    comments count. An HTML comment within a line makes no difference, nor does the end of a very long line.
    """
    prefix = _normalized(line)[:_COMPARED_MAX]
    counters = (_count, _count_without_html_comments)
    return any(count(prefix, before) >= max(1, count(prefix, now)) for count in counters)


def _count(line: str, text: str) -> int:
    return len(_prefix_pattern(line).findall(_normalized(text)))


def _count_without_html_comments(line: str, text: str) -> int:
    # The word may be full-width in `text`, so search `plain(text)`, which has the same positions. `_is_seen_at` gets
    # `text` itself, because full-width characters begin no HTML comment.
    text = " ".join(text[:BODY_MAX].translate(_WITHOUT_INVISIBLE).split())
    word = line.partition(" ")[0]
    return sum(_is_seen_at(line, text, found.start()) for found in re.finditer(re.escape(word), plain(text)))


def _is_seen_at(line: str, text: str, at: int) -> bool:
    """Whether the visible text at `at` begins with the line. Also True after more than _COMMENTS_MAX HTML comments."""
    seen = ""
    for comments, (begin, end) in enumerate(_visible_pieces(text, at, len(text))):
        if comments > _COMMENTS_MAX:
            return True
        # A piece may be long. Take only as many characters as the line has, and four more to see the last word's end.
        seen = _normalized(f"{seen} {text[begin : min(end, begin + len(line) + 4)]}")
        if not line.startswith(seen):  # `seen` differs from the line, or is longer.
            break
    return _prefix_pattern(line).match(seen) is not None


def _prefix_pattern(line: str) -> re.Pattern[str]:
    # A line that was cut may end in the middle of a word.
    return re.compile(re.escape(line) + (_END_OF_WORD if len(line) < _COMPARED_MAX else ""))


def _normalized(text: str) -> str:
    return " ".join(plain(text[:BODY_MAX].translate(_WITHOUT_INVISIBLE)).split())


def _visible_pieces(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The bounds of the pieces outside HTML comments. If a comment reaches beyond `end`, the last piece is empty."""
    while at < end and (start := text.find("<!--", at, end)) >= 0:
        stop = text.find("-->", start + 4)
        if stop < 0:
            break
        yield at, start
        at = stop + 3
    yield at, max(at, end)


class _Paragraph:
    """A paragraph as markdown-it gives it (`content`), and the comment's lines that hold the paragraph (`source`).

    The content lacks marks such as a list's dash. The lines show whether such a mark stands before a command.
    """

    def __init__(self, content: str, source: list[str]) -> None:
        self._content, self._source = content, source
        begins, ends = list(_FORMULA_BEGIN.finditer(content)), list(_FORMULA_END.finditer(content))
        # From the first beginning to the last end, as if everything between were one formula.
        self._formula = (begins[0].start(), ends[-1].start()) if begins and ends else (0, 0)

    def command(self, at: int, app: str) -> str:
        """The line at position `at` of the content, without HTML comments; empty if the line is not a command."""
        row = self._content.count("\n", 0, at)
        line = self._source[row]
        start = _INDENT.match(line)
        if (
            start is None
            or self._formula[0] < at < self._formula[1]
            or not _begins(line.translate(_WITHOUT_INVISIBLE), start.end(), app)
        ):
            return ""
        # An HTML comment that ends in a later line hides the rest of this line.
        text = "\n".join(self._source[row:]) if "<!--" in line else line
        seen = (
            text[begin:end].translate(_WITHOUT_INVISIBLE).strip()
            for begin, end in _visible_pieces(text, start.end(), len(line))
        )
        return " ".join(seen).strip()


def _begins(line: str, at: int, app: str) -> bool:
    mention = _MENTION.match(line, at)
    return bool(_START.match(line, at)) or (mention is not None and mention[1].lower() == app.lower())


_TOO_DEEP = "too deep"


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("zero", {"html": True}).enable([*_BLOCKS, *_INLINE])
    markdown.block.ruler.before("reference", "footnote", _skip_footnote, {"alt": ["paragraph", "reference"]})
    markdown.inline.ruler.before("text", "depth", _note_depth)
    markdown.inline.ruler.before("text", "line_start", _note_line_start)
    # Accept every address: readers do not see a link's title, whatever its address.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return markdown


def _note_line_start(state: StateInline, silent: bool) -> bool:
    """Record that a line begins with a slash or a mention, and leave the rest to Markdown."""
    text, at = state.src, state.pos
    # A rough test: the four characters before the sign, if in its line, are spaces. `command` tests the whole line.
    if text[at] not in "/@" or text[max(0, at - 4) : at].rpartition("\n")[2].strip(" "):
        return False
    if not silent:
        state.push("line_start", "", 0).meta = {"at": at}
    state.pos += 1
    return True


def _note_depth(state: StateInline, silent: bool) -> bool:
    """Record that brackets nest so deeply that markdown-it no longer recognises links."""
    if state.level >= state.md.options["maxNesting"]:
        state.env[_TOO_DEEP] = True
    return False


def _skip_footnote(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Skip a footnote, which GitHub shows elsewhere or not at all."""
    at = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not _FOOTNOTE.match(state.src, at):
        return False
    if not silent:
        state.line = next((line for line in range(first + 1, end) if state.isEmpty(line)), end)
    return True
