"""Reads Markdown as GitHub does, for tests: what a reader sees, and what GitHub would act on in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

# GitHub looks for these in the text of the rendered page, outside of code and links.
ACTIVE = {
    "mention": re.compile(r"(?<![\w/])@[A-Za-z0-9]"),
    "reference": re.compile(r"#[0-9]|(?<![0-9A-Za-z])GH-[0-9]", re.IGNORECASE),
    "address": re.compile(r"https?://|ftp://|(?<![0-9A-Za-z])www\.|\bmailto:[A-Za-z0-9]", re.IGNORECASE),
    "mail": re.compile(r"[\w.+-]@[\w-]"),
    "commit": re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])", re.IGNORECASE),
    "emoji": re.compile(r":[a-z_+-][a-z0-9_+-]*:"),
}
PHRASE = re.compile(r"duplicate\s*of", re.IGNORECASE)
INVISIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    # What hides letters in a text: fillers, selectors of variants and tags.
    "\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0e\U000e0000-\U000e0fff]"
)
# Stands in a page's text where a code span stands, or emphasis begins or ends: GitHub looks at what is before it and at
# what is behind it, and never at both as one.
BETWEEN = "\N{OBJECT REPLACEMENT CHARACTER}"


@dataclass
class Page:
    """What is on the rendered page."""

    text: str = ""
    codes: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    images: int = 0

    @property
    def active(self) -> dict[str, str]:
        """What GitHub would act on, by kind."""
        return {kind: found[0] for kind, pattern in ACTIVE.items() if (found := pattern.search(self.text))}


def read(markdown: str) -> Page:
    """Render and collect. Text inside links is left out of `text`, since GitHub does not look there."""
    page = Page()
    in_link = 0
    for token in _flat(MARKDOWN.parse(markdown)):
        in_link += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "link_open":
            page.links.append(str(token.attrGet("href")))
        elif token.type.removesuffix("_open").removesuffix("_close") in ("em", "strong", "s"):
            page.text += BETWEEN
            page.blocks += [token.tag] * token.type.endswith("_open")
        elif token.type == "text" and not in_link:
            page.text += token.content
        elif token.type in ("code_inline", "fence", "code_block"):
            page.codes.append(token.content)
            page.text += BETWEEN
        elif token.type in ("html_inline", "html_block"):
            page.html.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            page.text += "\n"
        elif token.type.endswith("_open"):
            page.blocks.append(token.tag)
            page.text += "\n"
        elif token.type == "image":
            page.images += 1
    return page


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])
