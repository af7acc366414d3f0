"""Templates such as `"{count} results"`: texts with gaps. A repository's own templates are made harmless.

A repository's own template may have emphasis and code spans. All other Markdown, HTML, mentions and links appear as
text, even if a gap's value completes them, as in "@{name}".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from bot.text.invisible import JOINERS, without_invisible

TEMPLATE_MAX = 600
"""The most characters in a repository's own template."""

GAPS_MAX = 10
"""The most gaps in a repository's own template; each gap may hold a title."""

_ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
_NAME = re.compile("[a-z][a-z0-9_]*")


class MalformedTemplate(ValueError):
    """A template has a single brace, or something other than a name between braces. The error quotes these braces."""


@dataclass(frozen=True, slots=True)
class Template:
    """`parts` are pairs: a piece of text, and the variable after it. The last pair has an empty variable."""

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template. `{name}` is a gap; `{{` and `}}` are braces. Raises MalformedTemplate for other braces."""
        parts: list[tuple[str, str]] = []
        before = ""
        try:
            for literal, name, format_spec, conversion in Formatter().parse(text):
                before += literal
                if format_spec or conversion or (name is not None and not _NAME.fullmatch(name)):
                    suffix = (f"!{conversion}" if conversion else "") or (f":{format_spec}" if format_spec else "")
                    raise MalformedTemplate(f"{{{name}{suffix}}}")
                if name:
                    parts.append((before, name))
                    before = ""
        except MalformedTemplate:
            raise
        except ValueError as problem:
            raise MalformedTemplate("{" if "{" in text else "}") from problem
        return cls((*parts, (before, "")))

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.parts if name)

    def fill(self, values: Mapping[str, str]) -> str:
        return "".join(literal + (values[name] if name else "") for literal, name in self.parts)

    def harmless(self, *, between: bool = False) -> Template:
        """Make the template harmless for any values. `between`: other texts directly precede and follow it."""
        pieces = [_harmless(literal) for literal, _ in self.parts]
        if between:
            pieces[0] = _ZERO_WIDTH_SPACE + pieces[0]
            pieces[-1] += _ZERO_WIDTH_SPACE
        for at in range(len(pieces) - 1):
            # If the piece between two gaps is empty, the gaps' values must not join.
            if _JOINS_BEFORE.search(pieces[at]) or (at and not pieces[at]):
                pieces[at] += _ZERO_WIDTH_SPACE
            if _JOINS_AFTER.match(pieces[at + 1]):
                pieces[at + 1] = _ZERO_WIDTH_SPACE + pieces[at + 1]
        if _BLOCK.match(pieces[0]):
            pieces[0] = _ZERO_WIDTH_SPACE + pieces[0].lstrip()
        return Template(tuple((piece, name) for piece, (_, name) in zip(pieces, self.parts, strict=True)))


# Characters that could form one token with an adjacent value.
_JOINS_BEFORE = re.compile(r"[0-9A-Za-z`@#:/.\-_\\&=*+~!(\[]\Z")
_JOINS_AFTER = re.compile(r"[0-9A-Za-z`@#:/.\-_&=*+~(\[]")
# The beginning of a list, a rule or an underline; `_ACTIVE` breaks the `#` of a heading.
_BLOCK = re.compile(r"\s*(?:[-+=]|[*_](?=[\s*_]*\Z|\s)|[0-9]{1,9}[.)])")
# Code spans; in `_BALANCED`, both runs of backticks are equal.
_CODE = re.compile(r"(`+[^`]+`+)")
_BALANCED = re.compile(r"(`+)[^`]+\1")
_SPECIAL = re.compile(r"[\\`\[\]|~]")
_ACTIVE = re.compile(
    # As in `escape.py`, `:30:` in a time of day is no emoji.
    # `\Z` is for a piece that ends within an emoji's name: the gap's value may complete the name.
    r"[@#]|:(?=//)|:(?=(?![0-9]{2}:)[a-z0-9_+-]{1,40}(?::|\Z))|(?<![0-9A-Za-z])(?:www|mailto:|xmpp:|GH-)|duplicate(?=\s*of)",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9a-fA-F]{7,}")  # may name a commit


def _harmless(piece: str) -> str:
    line = re.sub(r"\s+", " ", "".join(char if _visible(char) else " " for char in without_invisible(piece)))
    spans = _CODE.split(line)
    return "".join(
        # Only the first line of the bot's comments may look like a marker, so break a marker in a code span, too.
        span.replace("<!--", f"<{_ZERO_WIDTH_SPACE}!--") if _BALANCED.fullmatch(span) else _plain(span)
        for span in spans
    )


def _visible(char: str) -> bool:
    return char in JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\g<0>", text).replace("$", "<span>$</span>")
    text = _ACTIVE.sub(lambda found: found[0] + _ZERO_WIDTH_SPACE, text)
    return _HEX.sub(lambda found: _ZERO_WIDTH_SPACE.join(re.findall(".{1,6}", found[0])), text)


ANY_SPACE = r"\s\x1c-\x1f\x85\ufeff"
"""Every space of Python or JavaScript, for a character class that means the same in both."""

# `@login`, `@org/team`, `#1`, `GH-1`, `<!--`, "duplicate of", and addresses of issues. Logins are ASCII, and a letter
# before `@` prevents a mention only if the letter is ASCII.
_FORBIDDEN = re.compile(
    r"(?a:(?<![\w/])@[\w-]+(?:/[\w-]+)?)|#[0-9]+|(?<![0-9A-Za-z])(?ai:GH)-[0-9]+|<!--"
    rf"|(?ai:duplicate)[{ANY_SPACE}]+(?ai:of)|[^{ANY_SPACE}]+/(?ai:issues|pull|discussions)/[0-9]+"
)


def forbidden_part(text: str) -> str:
    """The part of a template that mentions people, links to an issue, or looks like a marker; "" if there is none.

    `harmless` disarms this part, but the template's author should know.
    """
    # The search takes quadratic time, so it stops after `TEMPLATE_MAX` characters.
    found = _FORBIDDEN.search(text, 0, TEMPLATE_MAX)
    return found[0] if found else ""
